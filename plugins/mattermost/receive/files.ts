/** Files of posts: over the server only, within the limit of the account. */
import {
  type ChannelConnection,
  ChannelError,
  mediaTooLarge,
  refusedCall,
  saveMedia,
  unansweredCall,
} from "service-gateway/sdk/channel";
import { fetchLimited } from "service-gateway/sdk/reading";
import type { Api } from "../api.ts";
import { isId } from "../fields.ts";

export function createFiles({
  api,
  directory,
  stop,
}: {
  readonly api: Pick<Api, "root" | "headers">;
  readonly directory: string;
  readonly stop: AbortSignal;
}): NonNullable<ChannelConnection["fetchMedia"]> {
  return async ({ ref, mimeType }, { maxBytes, signal }) => {
    if (!isId(ref)) throw new ChannelError("media_missing");
    const { root, headers } = api;
    const ends = AbortSignal.any([signal, stop]);
    const call = "GET files";
    const response = await fetchLimited(
      `${root}files/${ref}`,
      { headers, signal: ends },
      { maxBytes, fault: () => mediaTooLarge(maxBytes) },
    ).catch((error: unknown) => {
      throw unansweredCall(error, { call });
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw response.status === 404 ? new ChannelError("media_missing") : refusedCall(response, { call });
    }
    return await saveMedia(response.body, { directory, maxBytes, ...(mimeType && { mimeType }) });
  };
}
