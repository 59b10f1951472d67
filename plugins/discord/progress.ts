/** What is stored of the session at the gateway, so that nothing that people write is lost with the process. */
import type { Json, PluginStore } from "service-gateway/sdk";
import { id, list, number, record, text } from "./fields.ts";
import type { Session } from "./gateway.ts";
import { compareSnowflakes } from "./snowflake.ts";

interface State {
  readonly session?: Session;
  readonly bot?: string;
  /** The newest message that is stored, if all older ones are. */
  readonly newest?: string;
  /** Nothing before is read: the bot was not there yet. */
  readonly first?: string;
  /** Servers whose messages since `newest` are not read yet. */
  readonly unread?: readonly string[];
}

export interface Progress {
  readonly state: () => State;
  /** Reads what is stored, once. Another bot than before has nothing stored. */
  load(bot: string | undefined): Promise<void>;
  /** An event and all before it are stored. */
  stored(event: {
    /** The session that it came in. */
    readonly session: string | undefined;
    readonly sequence: number;
    readonly message: string | undefined;
  }): void;
  change(next: Partial<State>): void;
  /** Resolves when everything is on the disk. */
  saved(): Promise<void>;
}

const key = "progress";

export function createProgress(store: PluginStore, onError: (error: unknown) => void): Progress {
  let state: State = {};
  let isLoaded = false;
  let isDirty = false;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    while (isDirty) {
      isDirty = false;
      await store.set(key, state as unknown as Json);
    }
  }

  /** While one write is in progress, only the newest state waits for the next one. */
  function change(next: Partial<State>): void {
    state = { ...state, ...next };
    isDirty = true;
    writing ??= write()
      .catch(onError)
      .finally(() => {
        writing = undefined;
      });
  }

  return {
    state: () => state,
    async load(bot) {
      if (isLoaded) return;
      state = read(await store.get(key));
      isLoaded = true;
      if (bot !== undefined && state.bot !== bot) state = { bot };
    },
    stored({ session: of, sequence, message }) {
      const { session, newest = "0", unread = [] } = state;
      // While older messages are still to be read, a newer one must not hide them.
      const isNewer = message !== undefined && unread.length === 0 && compareSnowflakes(message, newest) > 0;
      change({
        ...(session !== undefined && session.id === of && { session: { ...session, sequence } }),
        ...(isNewer && { newest: message }),
      });
    },
    change,
    async saved() {
      await writing;
    },
  };
}

function read(value: Json | null): State {
  const { session, bot, newest, first, unread } = record(value) ?? {};
  const { id: name, url, sequence } = record(session) ?? {};
  const isSession = text(name) !== undefined && text(url) !== undefined && number(sequence) !== undefined;
  const known = { bot: id(bot), newest: id(newest), first: id(first) };
  return {
    ...(isSession && { session: session as Session }),
    ...(Object.fromEntries(Object.entries(known).filter(([, each]) => each !== undefined)) as Partial<State>),
    unread: list(unread).flatMap((each) => id(each) ?? []),
  };
}
