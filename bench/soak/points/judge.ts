/** Compares what people see after a crash with what they should see. Each violation is a sentence. */
import type { State } from "../state.ts";
import type { Point, Shape } from "./aim.ts";
import { marker } from "./parts.ts";

export interface Case {
  readonly name: string;
  readonly chat: number;
  /** Absent for a neighbour, whose process was killed at an arbitrary moment. */
  readonly point?: Point;
  readonly shape: Shape;
  readonly parts: number;
}

export interface Shown {
  readonly text: string;
  /** The album's group id. */
  readonly group?: string;
}

export interface Verdict {
  readonly violations: readonly string[];
  /** Parts that are there twice because their outcome was unknown. */
  readonly repeated: number;
  /** Previews whose ids could not be known. */
  readonly stray: number;
}

const settled = 2;

export function judge(asked: Case, shown: readonly Shown[], state: State): Verdict {
  const { name, chat, point, parts, shape } = asked;
  const violations: string[] = [];
  const where = `${name} (${point?.label ?? "a neighbour"}, ${shape})`;
  const complain = (what: string) => void violations.push(`${where}: ${what}`);
  const rows = state.outbox.filter((row) => row.chat === String(chat));
  let repeated = 0;
  for (let part = 1; part <= parts; part += 1) {
    const copies = shown.filter(({ text }) => text.includes(marker(name, part))).length;
    const wanted = point?.refused === true && part === 1 ? 0 : 1;
    if (copies < wanted) complain(`part ${part} of ${parts} is lost`);
    if (copies <= wanted) continue;
    repeated += copies - 1;
    if (point !== undefined && point.unknown !== true) complain(`part ${part} is repeated, though its fate was known`);
    if (!rows.some((row) => row.doubts >= copies - 1))
      complain(`part ${part} is there ${copies} times, and no row says so`);
  }
  const apologies = point?.refused === true ? shown.filter(({ text }) => text.startsWith("Sorry, ")).length : 0;
  if (apologies > 1) complain(`${apologies} apologies`);
  const others = shown.filter((one) => !isPart(one, shown, name) && !(point?.refused === true && isApology(one)));
  const stray = others.length;
  if (stray > (point?.strayPreview === true ? 1 : 0)) {
    complain(
      `${stray} messages stay that are no part of the answer: ` +
        `${others.map(({ text }) => JSON.stringify(text.slice(0, 80))).join()}`,
    );
  }
  const units = [...state.units.values()].filter(({ lane }) => lane.endsWith(`:${chat}`));
  const ends = units.map((unit) => (unit.state === settled ? `${unit.outcome} ${unit.reason}` : "not settled")).join();
  const allowed = point?.refused === true ? /^failed (?!send_fate_unknown)/ : /^answered /;
  if (units.length !== 1 || !allowed.test(ends)) complain(`it ended ${ends || "nowhere"}`);
  return { violations, repeated, stray };
}

/** The apology after a permanently rejected part; some accounts here cut their messages short. */
const isApology = ({ text }: Shown) => /^(?:Sorry, I have an answer|Ask me to repeat it)/.test(text);

/** A picture of an album without a caption belongs to the one that has it. */
function isPart({ text, group }: Shown, shown: readonly Shown[], name: string): boolean {
  if (text.includes(`${name}n`)) return true;
  if (group === undefined) return false;
  const album = shown.filter((one) => one.group === group);
  return album.length === 3 && album.some((one) => one.text.includes(`${name}n`));
}
