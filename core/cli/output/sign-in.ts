/** What a person has to do so that a bot can sign in. */
import { visible, visibleLine } from "../../log/visible.ts";
import type { SignInAction } from "../../sdk/contract.ts";
import type { Terminal } from "./terminal.ts";

/** Prints what to do, below the name of the account. */
export async function showSignIn(
  { line, style }: Pick<Terminal, "line" | "style">,
  account: string,
  { text, url, code, qr }: SignInAction,
): Promise<void> {
  line();
  line(`${style("bold", visibleLine(account, 200))}: ${visible(text)}`);
  if (url !== undefined) line(`  ${style("cyan", visibleLine(url, 2_000))}`);
  if (code !== undefined) line(`  Code: ${style("bold", visibleLine(code, 200))}`);
  if (qr === undefined) return;
  const { qrLines } = await import("./qr-code.ts");
  for (const row of qrLines(qr, style)) line(`  ${row}`);
}
