/** What a plugin shows operators in the console, and what they can do there. */

/** One thing that a panel shows, such as a server or a device. */
export interface PanelEntry {
  /** Names the entry to the acts. At most 200 characters, unique in the panel. */
  readonly id: string;
  /** What people call it. */
  readonly title: string;
  /** One or two words, and whether they are good news. */
  readonly state: { readonly word: string; readonly tone: "good" | "quiet" | "warn" | "bad" };
  /** Short facts, by their names, in this order. */
  readonly facts?: Readonly<Record<string, string>>;
  /** What to read before a decision, such as the description of a changed tool. Shown as plain text. */
  readonly text?: string;
  /** Why the entry waits for an operator, in one sentence. It is then shown under "Waiting for you", too. */
  readonly waits?: string;
  /** Names of the acts that are possible now. Default: none. */
  readonly acts?: readonly string[];
  /** Changes with what an operator must have seen. An act receives that of the entry which was shown. */
  readonly version?: string;
}

interface PanelAct {
  /** What the button says, such as `Restart`. */
  readonly label: string;
  /** Who may press it: `operate` for what can be repeated or undone, `admin` for what grants or ends access. */
  readonly role: "operate" | "admin";
  /** What is asked before it is done, in one sentence. Default: nothing. */
  readonly confirm?: string;
  /** Does it, within two minutes. `text` says in one sentence what was done, or why not. Must contain no secret. */
  run(
    entry: Pick<PanelEntry, "id" | "version">,
  ): Promise<{ readonly ok: boolean; readonly text: string }> | { readonly ok: boolean; readonly text: string };
}

/**
 * A list in the console, with a button for each act of an entry. Do in `run` what the plugin's commands do, with the
 * same functions. Who acted is recorded before `run` is called.
 *
 * @example
 * host.panel({
 *   id: "feeds",
 *   title: "Feeds",
 *   empty: "No feed is configured.",
 *   entries: () => feeds.map(({ name, late }) => ({
 *     id: name,
 *     title: name,
 *     state: late ? { word: "late", tone: "warn" } : { word: "ok", tone: "good" },
 *     acts: ["read"],
 *   })),
 *   acts: {
 *     read: { label: "Read now", role: "operate", run: async ({ id }) => ({ ok: true, text: await read(id) }) },
 *   },
 * });
 */
export interface PanelDefinition {
  /** `a-z`, `0-9` and `-`, unique in the plugin. */
  readonly id: string;
  readonly title: string;
  /** What the panel says without an entry, in one sentence. */
  readonly empty: string;
  /** True: entries may wait for an operator. Then `entries` is called every second while a console is open. */
  readonly mayWait?: boolean;
  /** At most 500, within ten seconds. Must contain no secret. */
  entries(): readonly PanelEntry[] | Promise<readonly PanelEntry[]>;
  /** By name, of `a-z`, `0-9` and `-`. */
  readonly acts?: Readonly<Record<string, PanelAct>>;
}
