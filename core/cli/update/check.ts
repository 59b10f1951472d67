/** `update --check`: says what is newest, what changes, and how to go back. */
import { compare, gt, satisfies } from "semver";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { packageVersion } from "../../contract/package.ts";
import { product } from "../../contract/product.ts";
import { visible } from "../../log/visible.ts";
import type { CommandContext } from "../context.ts";
import { changesBetween } from "./changes.ts";
import { askRegistry, fetchChangelog, type Published, registryAddress } from "./registry.ts";

/** The exit code if a newer version exists; 1 would be a failure, and 2 wrong usage. */
const newerExit = 3;

interface Options {
  readonly check?: boolean;
  readonly registry?: string;
  readonly json?: boolean;
}

export async function checkForUpdate(
  context: CommandContext,
  _: readonly [],
  { check = false, registry, json = false }: Options,
): Promise<number> {
  const { terminal } = context;
  if (!check)
    throw new HostError("usage", {
      reason: `nothing updates by itself: \`${programCommand} update --check\` only looks`,
    });
  const current = packageVersion();
  const published = await askRegistry(registryAddress(registry, context));
  const { newest, link } = published;
  const isNewer = gt(newest, current);
  if (!isNewer) {
    if (json) terminal.json({ current, newest, isNewer, link });
    else terminal.line(upToDate(current, newest));
    return 0;
  }
  const log = await fetchChangelog(published);
  const changes = log === undefined ? [] : changesBetween(log, { after: current, until: newest });
  const install = `npm install -g ${product.packageName}@${newest}`;
  const goBack = [
    `${programCommand} backup before-${newest}.tar.gz`,
    `npm install -g ${product.packageName}@${current}`,
  ];
  const between = published.versions.filter((one) => gt(one, current) && !gt(one, newest)).sort(compare);
  const { publishedAt, node } = published;
  const runs = node === undefined || satisfies(process.versions.node, node);
  if (json)
    terminal.json({
      ...{ current, newest, isNewer, publishedAt, versions: between, changes, link, install, goBack },
      node: { needed: node, runs },
    });
  else show(terminal, { published, current, changes, runs, install, goBack });
  return newerExit;
}

const upToDate = (current: string, newest: string): string =>
  current === newest
    ? `${current} is the newest version.`
    : `This version, ${current}, is later than the newest published one, ${newest}.`;

function show(
  { line, style }: CommandContext["terminal"],
  {
    published,
    current,
    changes,
    runs,
    install,
    goBack,
  }: {
    readonly published: Published;
    readonly current: string;
    readonly changes: ReturnType<typeof changesBetween>;
    readonly runs: boolean;
    readonly install: string;
    readonly goBack: readonly string[];
  },
): void {
  const { newest, publishedAt, node, link } = published;
  const day = /^\d{4}-\d{2}-\d{2}/.exec(publishedAt ?? "")?.[0];
  line(`${style("bold", newest)} is the newest version${day === undefined ? "" : ` (${day})`}; this is ${current}.`);
  if (!runs)
    line(style("yellow", `It needs Node ${visible(node ?? "")}; this is ${process.versions.node}. Update Node first.`));
  line();
  if (changes.length === 0) line(`What changes: ${link}`);
  for (const { version, text } of changes) line(`${style("bold", version)}\n${visible(text)}\n`);
  const [backup = "", back = ""] = goBack;
  line("To update, make a backup, install it and restart the gateway:");
  for (const command of [backup, install, `${programCommand} restart`]) line(`  ${command}`);
  line("To go back, stop the gateway, install this version again, and restore the backup into an empty directory,");
  line("because an older version does not open the state of a newer one:");
  for (const command of [back, `${programCommand} restore before-${newest}.tar.gz --to DIRECTORY`])
    line(`  ${command}`);
}
