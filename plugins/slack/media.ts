/** Files that people send. */
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  mediaTooLarge,
  refusedCall,
  saveMedia,
  unansweredCall,
} from "service-gateway/sdk/channel";
import { fetchLimited } from "service-gateway/sdk/reading";
import type { SlackApi } from "./api.ts";
import { missingScopeHint } from "./errors.ts";
import { record, text } from "./fields.ts";
import { isPlatformUrl, type Options } from "./options.ts";

/** The token goes to Slack's own hosts alone, and no redirect is followed. */
export function createFetchMedia(
  account: ChannelAccount<Options>,
  api: SlackApi,
): NonNullable<ChannelConnection["fetchMedia"]> {
  const { apiUrl, botToken } = account.options;
  return async ({ ref, mimeType }, { maxBytes, signal }) => {
    const file = record((await api.call("files.info", { file: ref }, { signal })).file);
    const address = text(file?.url_private_download) ?? text(file?.url_private);
    if (file === undefined || address === undefined || !isPlatformUrl(address, apiUrl))
      throw new ChannelError("media_refused", { detail: "the file is not stored at Slack, or is hidden" });
    if (typeof file.size === "number" && file.size > maxBytes) throw mediaTooLarge(maxBytes, file.size);
    const call = "the download of a file";
    const headers = { authorization: `Bearer ${botToken}` };
    const limit = { maxBytes, fault: () => mediaTooLarge(maxBytes) };
    const response = await fetchLimited(address, { headers, signal, redirect: "manual" }, limit).catch(
      (error: unknown) => {
        throw unansweredCall(error, { call });
      },
    );
    const isPage = response.headers.get("content-type")?.startsWith("text/html") === true && mimeType !== "text/html";
    if (!response.ok || response.body === null || isPage) {
      await response.body?.cancel();
      if (isPage || (response.status >= 300 && response.status < 400))
        throw new ChannelError("missing_scope", {
          detail: `${call}: Slack asks to sign in, so the token may not read files`,
          hint: missingScopeHint("files:read"),
        });
      throw refusedCall({ status: response.status, headers: response.headers, body: {} }, { call });
    }
    return await saveMedia(response.body, {
      directory: account.directory,
      maxBytes,
      ...(mimeType !== undefined && { mimeType }),
    });
  };
}
