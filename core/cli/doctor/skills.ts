/** Checks skills: those that cannot be listed, and configured names that no workspace contains. */

import { createSkills } from "../../agents/tools/skills.ts";
import { agentIds, agentSettings } from "../../config/agents.ts";
import { visibleLine } from "../../log/visible.ts";
import type { CheckInput } from "./check-input.ts";
import type { Finding } from "./finding.ts";
import { pathsOf, ready } from "./people.ts";

interface Named {
  readonly path: string;
  readonly names: readonly string[];
}

/** Part of the check of the agents. */
export async function wrongSkills(input: CheckInput): Promise<readonly Finding[]> {
  const { config, directory } = input.loaded;
  const unlisted = new Map<string, string | undefined>();
  const warn = (fields: object) => {
    const { file, error } = fields as { readonly file?: string; readonly error?: string };
    if (file !== undefined) unlisted.set(file, error);
  };
  // All of them, so that a name which is not offered is not called unknown.
  const skills = createSkills({ directory, log: { warn }, most: Number.POSITIVE_INFINITY });
  const everywhere = new Set<string>();
  const named: (Named & { readonly known: ReadonlySet<string> })[] = [];
  for (const id of agentIds(config)) {
    const { workspace, skills: names = [] } = agentSettings(config, id);
    const found = await skills.of(workspace === undefined ? {} : { workspace }, undefined);
    const known = new Set(found.map(({ name }) => name));
    for (const name of known) everywhere.add(name);
    const index = config.agents.list.findIndex((agent) => agent.id === id);
    const own = config.agents.list[index]?.skills !== undefined;
    named.push({ path: own ? `agents.list[${index}].skills` : "agents.defaults.skills", names, known });
  }
  for (const place of placesOf(input)) named.push({ ...place, known: everywhere });
  const missing = named.flatMap(({ path, names, known }) =>
    names.filter((name) => !known.has(name)).map((name) => [path, name] as const),
  );
  const base = { check: "agents", verdict: "warn" } as const;
  return [
    ...[...unlisted].map(([file, error]): Finding => {
      const described =
        "Begin it with a line of three dashes, `description: what it is for`, and another line of three dashes.";
      const why = error === undefined ? "it has no description" : `it cannot be read (${error})`;
      const fix =
        error === undefined
          ? described
          : "Let the user of the gateway read the file. It has to be in the workspace: neither a link that " +
            "leads out of it nor a hard link.";
      return {
        ...base,
        path: file,
        reason: `the skill in ${visibleLine(file, 300)} is not offered to models: ${why}`,
        fix,
      };
    }),
    // A section that several agents or accounts inherit is in the file once.
    ...[...new Map(missing.map((one) => [one.join("\n"), one])).values()].map(([path, name]): Finding => {
      const skill = JSON.stringify(visibleLine(name, 80));
      const reason = `${path} names ${skill}, and no workspace has a skill of that name`;
      return {
        ...base,
        path,
        reason,
        fix: "Correct the name, or write skills/<name>/SKILL.md into the workspace of the agent.",
      };
    }),
  ];
}

/** `skills` of groups and topics. */
function placesOf(input: CheckInput): readonly Named[] {
  return ready(input.accounts).flatMap((account) => {
    const pathOf = pathsOf(input, account);
    return Object.entries(account.settings.access.groups ?? {}).flatMap(([id, group]) => [
      { path: pathOf(["groups", id, "skills"]), names: group.skills ?? [] },
      ...Object.entries(group.topics ?? {}).map(([thread, topic]) => ({
        path: pathOf(["groups", id, "topics", thread, "skills"]),
        names: topic.skills ?? [],
      })),
    ]);
  });
}
