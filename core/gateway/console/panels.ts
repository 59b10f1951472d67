/** Panels of plugins in the console: their entries, and what operators do with them. */
import { reasonOf } from "../../contract/index.ts";
import { type Asked, callPlugin, isObject, type Owned, pluginDeadlines, unusable } from "../../host/index.ts";
import type { PanelDefinition, PanelEntry } from "../../sdk/contract.ts";

/** A button of an entry. */
interface ShownAct {
  readonly name: string;
  readonly label: string;
  readonly role: "operate" | "admin";
  readonly confirm?: string;
}

export interface ShownEntry extends Omit<PanelEntry, "acts"> {
  readonly acts: readonly ShownAct[];
}

export interface ShownPanel {
  readonly plugin: string;
  readonly id: string;
  readonly title: string;
  readonly empty: string;
  readonly entries: readonly ShownEntry[];
  /** Why the entries are missing. */
  readonly problem?: string;
}

type Panels = readonly Owned<PanelDefinition>[];

const mostEntries = 500;
const longestId = 200;
const tones: readonly unknown[] = ["good", "quiet", "warn", "bad"];

/** What is wrong with an entry of a plugin, which runs without a type check. */
function entryProblem(value: unknown): string | undefined {
  if (!isObject(value)) return "one of its entries is not an object";
  const { id, title, state, facts = {}, text = "", waits = "", version = "", acts = [] } = value;
  if (typeof id !== "string" || id === "" || id.length > longestId)
    return `one of its entries has no id of at most ${longestId} characters`;
  if (typeof title !== "string") return `the entry ${id} has no title`;
  if (!isObject(state) || typeof state.word !== "string" || !tones.includes(state.tone))
    return `the entry ${id} has no state with a word and a tone`;
  if (![text, waits, version].every((one) => typeof one === "string"))
    return `text, waits and version of the entry ${id} must be texts`;
  if (!isObject(facts) || !Object.values(facts).every((fact) => typeof fact === "string"))
    return `facts of the entry ${id} must be texts`;
  return Array.isArray(acts) ? undefined : `acts of the entry ${id} must be a list`;
}

async function entriesOf({ plugin, definition }: Panels[number]): Promise<readonly PanelEntry[]> {
  const asked: Asked = { plugin, doing: `entries of the panel ${definition.id}` };
  const entries: unknown = await callPlugin(asked, pluginDeadlines.check, () => definition.entries());
  if (!Array.isArray(entries)) throw unusable(asked, "not a list");
  const problem = entries.map(entryProblem).find((one) => one !== undefined);
  if (problem !== undefined) throw unusable(asked, problem);
  return (entries as readonly PanelEntry[]).slice(0, mostEntries);
}

function shownEntry({ acts = [], ...entry }: PanelEntry, { acts: known = {} }: PanelDefinition): ShownEntry {
  const shown = acts.flatMap((name): readonly ShownAct[] => {
    if (!Object.hasOwn(known, name)) return [];
    const { label, role, confirm } = known[name] as NonNullable<(typeof known)[string]>;
    return [{ name, label, role, ...(confirm !== undefined && { confirm }) }];
  });
  return { ...entry, acts: shown };
}

/** Asks all panels at once, so that one that hangs does not delay the others for longer than its own time limit. */
export async function readPanels(
  panels: Panels,
  { onlyWaiting = false }: { readonly onlyWaiting?: boolean } = {},
): Promise<readonly ShownPanel[]> {
  const asked = panels.filter(({ definition }) => !onlyWaiting || definition.mayWait === true);
  return await Promise.all(
    asked.map(async (panel): Promise<ShownPanel> => {
      const { plugin, definition } = panel;
      const base = { plugin, id: definition.id, title: definition.title, empty: definition.empty };
      try {
        const entries = (await entriesOf(panel)).filter(({ waits = "" }) => !onlyWaiting || waits !== "");
        return { ...base, entries: entries.map((entry) => shownEntry(entry, definition)) };
      } catch (error) {
        return { ...base, entries: [], problem: reasonOf(error) };
      }
    }),
  );
}

/** Why an act is not carried out. */
export class PanelProblem extends Error {
  /** There is no such act at all; else the entry is another one by now. */
  readonly isUnknown: boolean;

  constructor(message: string, { isUnknown = false } = {}) {
    super(message);
    this.isUnknown = isUnknown;
  }
}

export interface PanelPress {
  readonly plugin: string;
  readonly panel: string;
  readonly act: string;
  readonly entry: string;
  /** The version of the entry that was shown. */
  readonly version?: string | undefined;
}

/**
 * Finds an act as it is possible now: an entry that has changed since it was shown is not acted on. Throws
 * `PanelProblem`; `run` calls the plugin.
 */
export async function actInPanel(
  panels: Panels,
  { plugin, panel, act, entry, version }: PanelPress,
): Promise<{
  readonly role: "operate" | "admin";
  readonly title: string;
  readonly run: () => Promise<{ readonly ok: boolean; readonly text: string }>;
}> {
  const found = panels.find((one) => one.plugin === plugin && one.definition.id === panel);
  const { acts = {} } = found?.definition ?? {};
  const known = Object.hasOwn(acts, act) ? acts[act] : undefined;
  if (found === undefined || known === undefined) throw new PanelProblem("There is no such act.", { isUnknown: true });
  const current = (await entriesOf(found)).find(({ id }) => id === entry);
  if (current === undefined) throw new PanelProblem("The entry is not there any more.");
  if (current.version !== version) throw new PanelProblem("The entry has changed since it was shown. Read it again.");
  if (current.acts?.includes(act) !== true)
    throw new PanelProblem(`${known.label} is not possible any more: the entry has changed.`);
  const asked: Asked = { plugin, doing: `${act} of the panel ${panel}` };
  return {
    role: known.role,
    title: current.title,
    async run() {
      const answer: unknown = await callPlugin(asked, pluginDeadlines.route, () =>
        known.run({ id: entry, ...(version !== undefined && { version }) }),
      );
      if (!isObject(answer) || typeof answer.ok !== "boolean" || typeof answer.text !== "string")
        throw unusable(asked, "no ok and text");
      return { ok: answer.ok, text: answer.text };
    },
  };
}
