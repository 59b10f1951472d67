/** What a person has to do so that the bot can sign in, as a channel reports it. */
import type { SignInAction } from "../../sdk/contract.ts";

const within = (value: unknown, most: number): boolean =>
  typeof value === "string" && value !== "" && Buffer.byteLength(value) <= most;

/** What is wrong with it, as the end of a sentence; `undefined` if nothing is. */
export function actionProblem(action: unknown): string | undefined {
  const { text, url, code, qr } = (action ?? {}) as Partial<Record<keyof SignInAction, unknown>>;
  // Characters of other alphabets take up to four bytes.
  if (!within(text, 2_000)) return "text must be a sentence of at most 500 characters";
  if (url !== undefined && !(within(url, 2_000) && isWebAddress(String(url))))
    return "url must be an address with http or https, of at most 2,000 characters";
  if (code !== undefined && !within(code, 200)) return "code must be a text of at most 200 characters";
  if (qr !== undefined && !within(qr, 1_000)) return "qr must be a text of at most 1,000 bytes";
  return undefined;
}

function isWebAddress(url: string): boolean {
  const { protocol } = URL.parse(url) ?? {};
  return protocol === "https:" || protocol === "http:";
}
