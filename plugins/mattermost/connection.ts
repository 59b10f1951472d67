/** One live account: connects the calls of the gateway with the server. */
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  createSourceFaultLog,
  keepConnected,
  mediaTooLarge,
  refusedCall,
  saveMedia,
  unansweredCall,
} from "service-gateway/sdk/channel";
import { fetchLimited } from "service-gateway/sdk/reading";
import { createApi } from "./api.ts";
import { createButtons, pressPath } from "./buttons.ts";
import { createCursor } from "./cursor.ts";
import { createDirectory } from "./directory.ts";
import { isId } from "./fields.ts";
import { createIntake } from "./intake.ts";
import type { Options } from "./options.ts";
import { parseEvent } from "./parse.ts";
import { createPlaces } from "./places.ts";
import { createPressHandler } from "./press.ts";
import { createProbe } from "./probe.ts";
import { renderReply } from "./render.ts";
import { createSending } from "./send.ts";
import type { Resume } from "./sequence.ts";
import { createServerSettings } from "./server.ts";
import { openSocket, type Socket } from "./socket.ts";
import { createUploads } from "./uploads.ts";

/** How long a send that has begun may take when the account closes. */
const closeMs = 3_000;

export function createConnection(account: ChannelAccount<Options>): ChannelConnection {
  let { options } = account;
  const { url, callbackUrl } = options;
  const token = options.token?.trim() ?? "";
  if (token === "")
    throw new ChannelError("unauthorized", { detail: "There is no token: set token, tokenFile or MATTERMOST_TOKEN" });
  const stop = new AbortController();
  const api = createApi({ url, token, calling: account.calling, stop: stop.signal });
  const directory = createDirectory(api);
  const settings = createServerSettings(api, account.now);
  const signingKey = async () => (await settings()).signingKey;
  const placeOf = createPlaces({ api, directory });
  const buttons = callbackUrl === undefined ? undefined : createButtons({ account: account.id, token, callbackUrl });
  if (buttons !== undefined) {
    const handler = createPressHandler({ account, buttons, directory, signingKey });
    account.route({ path: pressPath, maxBytes: 65_536, handler });
  }
  const cursor = createCursor(account);
  const intake = createIntake({ account, api, directory, cursor });
  const sending = createSending({
    ...{ api, directory, placeOf, buttons, log: account.log },
    uploadAll: createUploads({ api, settings }),
  });
  const fault = createSourceFaultLog(account.log);
  const resume: Resume = { connectionId: "", next: 0 };
  const sends = new Set<Promise<unknown>>();
  let socket: Socket | undefined;

  async function connect(signal: AbortSignal) {
    const me = await directory.me(signal);
    const since = await cursor.load();
    let fail: (reason: unknown) => void = () => {};
    const session = intake.begin((reason) => fail(reason));
    // What comes before the past is fetched waits for it.
    const early: (() => void)[] = [];
    let isOpen = false;
    const inOrder = (work: () => void) => void (isOpen ? work() : early.push(work));
    const opened = await openSocket({
      ...{ api, token, resume, fault, signal },
      onEvent: (event) => inOrder(() => session.take(event)),
      onTime: (serverTime) => inOrder(() => session.passed(serverTime)),
    });
    socket = opened;
    fail = opened.fail;
    if (since !== undefined) session.catchUp(since, opened.serverTime);
    isOpen = true;
    for (const work of early) work();
    return { identity: { id: me.id, username: me.username }, lost: opened.lost };
  }

  return {
    ...sending,
    ...createProbe({ api, directory, settings, options }),
    start: () => keepConnected(account, connect),
    parse: (raw) => parseEvent(raw, options),
    render: renderReply,
    send(part, address, signal) {
      const sent = sending.send(part, address, signal);
      sends.add(sent);
      const ended = () => void sends.delete(sent);
      sent.then(ended, ended);
      return sent;
    },
    async typing({ chat, thread }) {
      const channel = await placeOf(chat);
      if (socket?.typing(channel, thread) === true) return;
      await api.call("POST", "users/me/typing", { body: { channel_id: channel, parent_id: thread ?? "" } });
    },
    async fetchMedia({ ref, mimeType }, { maxBytes, signal }) {
      if (!isId(ref)) throw new ChannelError("media_missing");
      const { root, headers } = api;
      const ends = AbortSignal.any([signal, stop.signal]);
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
      return await saveMedia(response.body, { directory: account.directory, maxBytes, ...(mimeType && { mimeType }) });
    },
    update(next) {
      // Read with the same schema as the options that the account was opened with.
      options = next as Options;
    },
    async close() {
      socket?.close();
      const late = new AbortController();
      const waited = new Promise((resolve) => {
        const timer = setTimeout(resolve, closeMs);
        late.signal.addEventListener("abort", () => clearTimeout(timer));
      });
      // If sends were cut off, it would be unknown whether they arrived.
      await Promise.race([Promise.allSettled(sends), waited]);
      stop.abort();
      await intake.settled();
      await cursor.flush();
      await Promise.race([socket?.ended, waited]);
      late.abort();
    },
  };
}
