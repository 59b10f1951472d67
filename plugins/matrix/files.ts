/** Files that people send. They are at the homeserver, behind its token. */
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  refusedCall,
  saveMedia,
} from "service-gateway/sdk/channel";
import { type Homeserver, path } from "./homeserver.ts";

export function createFetchMedia(
  { directory }: Pick<ChannelAccount, "directory">,
  server: Homeserver,
): NonNullable<ChannelConnection["fetchMedia"]> {
  return async ({ ref, mimeType }, { maxBytes, signal }) => {
    const [, host, id] = /^mxc:\/\/([A-Za-z0-9.\-:[\]]+)\/([A-Za-z0-9_\-.~]+)$/.exec(ref) ?? [];
    if (host === undefined || id === undefined)
      throw new ChannelError("media_refused", { detail: "the address of the file is not one of Matrix" });
    // The second is that of homeservers before Matrix 1.11.
    for (const address of [path`client/v1/media/download/${host}/${id}`, path`media/v3/download/${host}/${id}`]) {
      const response = await server.download(address, { maxBytes, signal });
      if (response.ok && response.body !== null)
        return await saveMedia(response.body, { directory, maxBytes, ...(mimeType !== undefined && { mimeType }) });
      await response.body?.cancel();
      if (response.status !== 404) throw refusedCall({ ...response, body: {} }, { call: "media/download" });
    }
    throw new ChannelError("media_unreachable", { detail: "the homeserver does not have the file any more" });
  };
}
