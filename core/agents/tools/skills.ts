/**
 * Skills: folders in an agent's workspace with instructions for certain tasks, `skills/<name>/SKILL.md`. The prompt
 * lists their names and purposes. The model reads a skill when a task calls for it.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type AgentSettings, expandPath } from "../../config/index.ts";
import { type Json, reasonOf } from "../../contract/index.ts";
import { readInside } from "../../media/workspace-file.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import { plainName } from "../conversation/envelope.ts";
import { nameBefore } from "../conversation/name-before.ts";
import type { OwnTool } from "./offered-tools.ts";

export interface Skill {
  readonly name: string;
  /** What the skill is for, on one line. */
  readonly description: string;
  readonly file: string;
  /** The directory that contains it, links included. */
  readonly workspace: string;
}

export interface Skills {
  /**
   * The agent's skills that this group or topic allows; `place` lists their names (absent: all). An edited file applies
   * from the next turn.
   */
  of(
    agent: Pick<AgentSettings, "workspace" | "skills">,
    place: readonly string[] | undefined,
  ): Promise<readonly Skill[]>;
}

const mostSkills = 100;
/** Of more folders than these the rest is not looked at, whatever the agent may use. */
const mostFolders = 1_000;
/** Larger files are read up to this size. */
const mostBytes = 64 * 1_024;
const mostNameChars = 64;
const mostDescriptionChars = 500;

interface Known {
  /** Version of the file, which changes when the file does. */
  readonly version: string;
  readonly skill: Skill | undefined;
  /** Permissions can change while the version stays. */
  readonly unreadable?: true;
}

export function createSkills({
  directory,
  log,
  most = mostSkills,
}: {
  /** The configuration's directory, to which a relative workspace path is resolved. */
  readonly directory: string;
  readonly log: Pick<PluginLog, "warn">;
  /** How many skills an agent has at most. */
  readonly most?: number;
}): Skills {
  let known = new Map<string, Known>();
  const crowded = new Set<string>();

  async function read(folder: string, workspace: string): Promise<Skill | undefined> {
    const file = join(workspace, "skills", folder, "SKILL.md");
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() !== true) return undefined;
    // A link or a second name changes neither time nor size.
    const version = `${found.mtimeMs} ${found.size} ${found.dev} ${found.ino} ${found.nlink}`;
    const before = known.get(file);
    const isNew = before?.version !== version;
    if (!isNew && before.unreadable === undefined) return before.skill;
    try {
      const skill = parseSkill(await readText(file, workspace), { folder, file, workspace });
      if (skill === undefined) log.warn({ file }, "a skill is left out: it needs a description in its front matter");
      known.set(file, { version, skill });
      return skill;
    } catch (error) {
      if (isNew) log.warn({ file, error: reasonOf(error) }, "a skill is left out: its file cannot be read");
      known.set(file, { version, skill: undefined, unreadable: true });
      return undefined;
    }
  }

  return {
    async of({ workspace, skills: allowed }, placeSkills) {
      if (workspace === undefined || allowed?.length === 0 || placeSkills?.length === 0) return [];
      const directoryOfAgent = expandPath(workspace, directory);
      const root = join(directoryOfAgent, "skills");
      const folders = (await readdir(root).catch(() => [])).sort().slice(0, mostFolders);
      if (known.size > 10 * mostFolders) known = new Map();
      const found = new Map<string, Skill>();
      for (const skill of await Promise.all(folders.map((folder) => read(folder, directoryOfAgent)))) {
        const isMeant =
          skill !== undefined &&
          [allowed, placeSkills].every((names) => names === undefined || names.includes(skill.name));
        if (isMeant && !found.has(skill.name)) found.set(skill.name, skill);
      }
      if (found.size > most && !crowded.has(root)) {
        crowded.add(root);
        log.warn(
          { workspace, skills: found.size, most },
          "an agent has more skills than a model is offered: list those that it needs in `skills`",
        );
      }
      return [...found.values()].slice(0, most);
    },
  };
}

/** Throws if there is no such file, and for a link that leads out of the workspace. */
async function readText(file: string, workspace: string): Promise<string> {
  const text = await readInside(workspace, file, mostBytes);
  if (text === undefined) throw new Error("it does not exist");
  return text;
}

/** Parses the front matter: `name` (default: the folder's name) and `description`. The body is read only on request. */
function parseSkill(
  text: string,
  { folder, file, workspace }: { readonly folder: string; readonly file: string; readonly workspace: string },
): Skill | undefined {
  const [, head] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  if (head === undefined) return undefined;
  const name = plainName(fieldOf(head, "name") ?? folder, mostNameChars);
  const description = plainName(fieldOf(head, "description") ?? "", mostDescriptionChars);
  return name === "" || description === "" ? undefined : { name, description, file, workspace };
}

/** Reads a YAML string: plain, quoted, or as a block on the following lines. */
function fieldOf(head: string, key: string): string | undefined {
  const lines = head.split(/\r?\n/);
  const at = lines.findIndex((line) => line.startsWith(`${key}:`));
  const given = lines[at]?.slice(key.length + 1).trim();
  if (given === undefined) return undefined;
  const below = lines.slice(at + 1);
  const end = below.findIndex((line) => /^\S/.test(line));
  const block = (end === -1 ? below : below.slice(0, end)).map((line) => line.trim());
  if (/^[>|][+-]?$/.test(given)) return block.join(" ");
  return [given, ...block]
    .join(" ")
    .trim()
    .replace(/^(["'])(.*)\1$/, "$2");
}

/** The section of the instructions that lists the skills; `undefined` when there are none. */
export function skillsHint(skills: readonly Skill[]): string | undefined {
  if (skills.length === 0) return undefined;
  const rule =
    "You have skills: instructions for certain tasks. When a task fits one of them, read it with the tool " +
    "read_skill first, and follow it.";
  return [rule, ...skills.map(({ name, description }) => `- ${name}: ${description}`)].join("\n");
}

/**
 * The skill that a message calls by beginning with `/name`, in groups also with the bot's name before it. Menus and
 * phone keyboards often replace a hyphen with an underscore.
 */
export function namedSkill(text: string, skills: readonly Skill[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll("_", "-");
  const [, word] = /^\s*\/([^\s@:]+)/.exec(text.replace(nameBefore, "").replaceAll("\\", "")) ?? [];
  return word === undefined ? undefined : skills.find(({ name }) => plain(name) === plain(word))?.name;
}

export function skillTools(skills: readonly Skill[]): readonly OwnTool[] {
  if (skills.length === 0) return [];
  const names = skills.map(({ name }) => name);
  return [
    {
      name: "read_skill",
      readOnly: true,
      description: "Reads one of your skills: instructions for a task.",
      parameters: {
        type: "object",
        properties: { name: { type: "string", enum: names, description: "Name of the skill." } },
        required: ["name"],
        additionalProperties: false,
      },
      async run(args): Promise<Json> {
        const { name } = (typeof args === "object" && args !== null ? args : {}) as { readonly name?: Json };
        const skill = skills.find((one) => one.name === name);
        if (skill === undefined)
          return { ok: false, error: `There is no such skill. Available: ${names.join(", ")}.`, code: "skill_unknown" };
        const text = await readText(skill.file, skill.workspace).catch(() => undefined);
        if (text === undefined)
          return { ok: false, error: "The skill can no longer be read.", code: "skill_unreadable" };
        return { ok: true, name: skill.name, text };
      },
    },
  ];
}
