/** Files that people send. They are at the homeserver, behind its token. */
import { type ChannelAccount, type ChannelConnection, ChannelError, saveMedia } from "service-gateway/sdk/channel";
import { type Homeserver, path, refusal } from "./homeserver.ts";

export function createFetchMedia(
  { directory }: Pick<ChannelAccount, "directory">,
  server: Homeserver,
): NonNullable<ChannelConnection["fetchMedia"]> {
  return async ({ ref, mimeType }, { maxBytes, signal }) => {
    const [, host, id] = /^mxc:\/\/([A-Za-z0-9.\-:[\]]+)\/([A-Za-z0-9_\-.~]+)$/.exec(ref) ?? [];
    if (host === undefined || id === undefined)
      throw new ChannelError("media_refused", { detail: "the address of the file is not one of Matrix" });
    let response = await server.download(path`client/v1/media/download/${host}/${id}`, signal);
    if (response.status === 404) {
      const text = await response.text();
      // A homeserver older than Matrix 1.11.
      if (!text.includes("M_UNRECOGNIZED"))
        throw new ChannelError("media_unreachable", { detail: "the homeserver no longer has the file" });
      response = await server.download(path`media/v3/download/${host}/${id}`, signal);
    }
    if (!response.ok || response.body === null)
      throw refusal(
        { status: response.status, headers: response.headers, text: await response.text() },
        "media/download",
      );
    return await saveMedia(response.body, { directory, maxBytes, ...(mimeType !== undefined && { mimeType }) });
  };
}
