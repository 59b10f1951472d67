/** One live account: connects the calls of the gateway with the server. */
import {
  type ChannelAccount,
  type ChannelConnection,
  ChannelError,
  createSourceFaultLog,
  keepConnected,
} from "service-gateway/sdk/channel";
import { createApi } from "./api.ts";
import { createDirectory } from "./directory.ts";
import type { Options } from "./options.ts";
import { createProbe } from "./probe.ts";
import { createCursor } from "./receive/cursor.ts";
import { createFiles } from "./receive/files.ts";
import { createIntake } from "./receive/intake.ts";
import { parseEvent } from "./receive/parse.ts";
import { createPressHandler } from "./receive/press.ts";
import type { Resume } from "./receive/sequence.ts";
import { openSocket, type Socket } from "./receive/socket.ts";
import { createButtons, pressPath } from "./send/buttons.ts";
import { createPlaces } from "./send/places.ts";
import { renderReply } from "./send/render.ts";
import { createSending } from "./send/send.ts";
import { createUploads } from "./send/uploads.ts";
import { createServerSettings } from "./server.ts";

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
    const me = await directory.introduce(signal);
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
    ...createProbe({ api, directory, settings, options: () => options }),
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
    fetchMedia: createFiles({ api, directory: account.directory, stop: stop.signal }),
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
