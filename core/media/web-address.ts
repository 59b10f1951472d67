/** Checks a web address without using the network. */
import { ChannelError } from "../contract/index.ts";
import { parseAddress } from "./address.ts";
import { publicAddresses } from "./public-lookup.ts";

export function refused(detail: string): ChannelError {
  return new ChannelError("media_refused", { detail });
}

/** Parses an address as web browsers do, so that spellings such as `0x7f.1`, `LOCALHOST` and `２１` are normalized. */
export function parseWebAddress(text: string, base?: URL): { readonly url: URL; readonly host: string } {
  const url = URL.parse(text, base);
  if (url === null) throw refused("it is not a web address");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refused(`only http and https are fetched, not ${url.protocol}`);
  if (url.username !== "" || url.password !== "")
    throw refused("a web address with a user name or a password in it is not fetched");
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  if (host === "") throw refused("it is not a web address");
  return { url, host };
}

/**
 * Throws `ChannelError` if the address is invalid or a literal IP address that is not public. Host names are not looked
 * up.
 */
export async function judgeUrl(text: string): Promise<void> {
  const { host } = parseWebAddress(text);
  if (parseAddress(host) !== undefined) await publicAddresses(host, async () => []);
}
