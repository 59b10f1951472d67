/** Files that the bot sends, in Slack's three steps: an address for each, the bytes, and the message. */
import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { ChannelError, type Receipt, refusedCall, unansweredCall } from "service-gateway/sdk/channel";
import { fetchWhole } from "service-gateway/sdk/reading";
import type { SlackApi } from "../api.ts";
import { isTimestamp, list, record, text } from "../fields.ts";
import { isPlatformUrl } from "../options.ts";

export interface Upload {
  readonly path: string;
  readonly name: string;
}

const uploadMs = 300_000;
/** Slack makes the message after its answer. */
const looks = 4;
const lookEveryMs = 250;

/** Slack shows the files with the last step: a failure before it has sent nothing. */
export async function uploadFiles(
  files: readonly Upload[],
  {
    api,
    apiUrl,
    channel,
    thread,
    signal,
  }: {
    readonly api: SlackApi;
    readonly apiUrl: string;
    readonly channel: string;
    readonly thread: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Receipt> {
  const ids: string[] = [];
  for (const file of files) ids.push(await unseen(() => uploadOne(file, { api, apiUrl, signal })));
  const named = ids.map((id, index) => ({ id, title: files[index]?.name ?? id }));
  await api.call("files.completeUploadExternal", { files: named, channel_id: channel, thread_ts: thread }, { signal });
  const messageId = await messageOf(ids[0] ?? "", { api, channel, signal }).catch(() => undefined);
  return { messageId: messageId ?? ids[0] ?? "" };
}

async function unseen<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ChannelError) || error.fate !== "unknown") throw error;
    throw new ChannelError(error.reason, { retryable: true, detail: error.message, cause: error });
  }
}

async function uploadOne(
  { path, name }: Upload,
  { api, apiUrl, signal }: { readonly api: SlackApi; readonly apiUrl: string; readonly signal: AbortSignal },
): Promise<string> {
  const bytes = await openAsBlob(path).catch((error: unknown) => {
    throw new ChannelError("media_refused", { detail: `${basename(path)} cannot be read`, cause: error });
  });
  const answer = await api.call("files.getUploadURLExternal", { filename: name, length: bytes.size }, { signal });
  const [address, id] = [text(answer.upload_url), text(answer.file_id)];
  if (address === undefined || id === undefined || !isPlatformUrl(address, apiUrl))
    throw new ChannelError("bad_answer", {
      detail: "files.getUploadURLExternal: no address of Slack",
      retryable: true,
    });
  const call = "the upload of a file";
  const headers = { "content-type": "application/octet-stream" };
  const response = await fetchWhole(address, {
    ...{ method: "POST", headers, body: bytes, maxBytes: 100_000, timeoutMs: uploadMs, signal },
  }).catch((error: unknown) => {
    throw unansweredCall(error, { call });
  });
  if (!response.ok) throw refusedCall({ ...response, body: {} }, { call });
  return id;
}

/** The id of the message that shows a file. */
async function messageOf(
  file: string,
  { api, channel, signal }: { readonly api: SlackApi; readonly channel: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  for (let look = 0; look < looks && !signal.aborted; look += 1) {
    const { shares } = record((await api.call("files.info", { file }, { signal })).file) ?? {};
    for (const kind of Object.values(record(shares) ?? {})) {
      const ts = record(list(record(kind)?.[channel])[0])?.ts;
      if (isTimestamp(ts)) return ts;
    }
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return undefined;
}
