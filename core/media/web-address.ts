/** What can be said about a web address before anything is asked of a network. */
import { ChannelError } from "../contract/index.ts";
import { bytesOf } from "./address.ts";
import { publicAddresses } from "./public-lookup.ts";

export function refused(detail: string): ChannelError {
  return new ChannelError("media_refused", { detail });
}

/** In the one spelling that the parser of the web gives it: `0x7f.1`, `LOCALHOST` and `２１` are what they mean. */
export function parseWebAddress(text: string, base?: URL): { readonly url: URL; readonly host: string } {
  const url = URL.parse(text, base);
  if (url === null) throw refused("it is not a web address");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refused(`only http and https are fetched, not ${url.protocol}`);
  if (url.username !== "" || url.password !== "") throw refused("a web address with a user name or a password in it is not fetched");
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  if (host === "") throw refused("it is not a web address");
  return { url, host };
}

/** Throws `ChannelError` for what the fetch refuses without asking a name service: no web address, or a literal one that is not public. */
export async function judgeUrl(text: string): Promise<void> {
  const { host } = parseWebAddress(text);
  if (bytesOf(host) !== undefined) await publicAddresses(host, async () => []);
}
