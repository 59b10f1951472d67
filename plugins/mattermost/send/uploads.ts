/** Files of a post, which are uploaded before it. */
import { openAsBlob } from "node:fs";
import { ChannelError, mediaTooLarge, type Part } from "service-gateway/sdk/channel";
import type { Api } from "../api.ts";
import { codes } from "../codes.ts";
import { isId, list, record } from "../fields.ts";
import type { ServerSettings } from "../server.ts";
import type { PostBody, PostFile } from "./render.ts";

/** Uploads the files of a part. `omitted`: those that were left out. */
export type UploadAll = (
  part: Part,
  channel: string,
  signal: AbortSignal,
) => Promise<{ readonly file_ids: readonly string[]; readonly omitted: readonly string[] }>;

const uploadMs = 600_000;

export function createUploads({
  api,
  settings,
}: {
  readonly api: Api;
  readonly settings: (signal?: AbortSignal) => Promise<ServerSettings>;
}): UploadAll {
  /** A file without a post is visible to no one, so an upload may be repeated. */
  async function upload({ path, name, type }: PostFile, channel: string, signal: AbortSignal): Promise<string> {
    const blob = await openAsBlob(path, { type }).catch((error: unknown) => {
      throw new ChannelError("media_missing", { detail: `The file ${name} cannot be read`, cause: error });
    });
    const { maxFileSize, allowsFiles } = await settings(signal);
    if (!allowsFiles) {
      const { meaning: detail, hint } = codes.files_disabled;
      throw new ChannelError("files_disabled", { detail, hint });
    }
    if (maxFileSize > 0 && blob.size > maxFileSize) throw mediaTooLarge(maxFileSize, blob.size);
    const body = new FormData();
    body.append("channel_id", channel);
    body.append("files", blob, name);
    const { file_infos } = record(await api.call("POST", "files", { body, signal, timeoutMs: uploadMs }));
    const [info] = list(file_infos).map(record);
    if (!isId(info?.id)) throw new ChannelError("bad_answer", { detail: "POST files: the answer has no file" });
    return info.id;
  }

  /** Files that are refused for good are left out if the part allows it. */
  return async (part, channel, signal) => {
    const { files, text: words } = part.body as PostBody;
    const file_ids: string[] = [];
    const omitted: string[] = [];
    for (const file of files) {
      try {
        file_ids.push(await upload(file, channel, signal));
      } catch (error) {
        if (!(error instanceof ChannelError)) throw error;
        const { reason, message: detail, retryable, fate, retryAfterMs, hint } = error;
        if (part.mayOmitFiles === true && words !== "" && !retryable && fate === "not-sent")
          omitted.push(`the file ${file.name}: ${detail}${hint === undefined ? "" : ` ${hint}`}`);
        else
          throw new ChannelError(reason, {
            ...{ detail, cause: error, retryable: retryable || fate === "unknown" },
            ...(retryAfterMs !== undefined && { retryAfterMs }),
            ...(hint !== undefined && { hint }),
          });
      }
    }
    return { file_ids, omitted };
  };
}
