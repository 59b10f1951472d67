/** `hooks list`: what takes each request, in the order of matching, and its problems. */
import type { Problem } from "../../config/problem.ts";
import type { Mapping } from "../../webhooks/mapping/compiled-mapping.ts";
import type { CommandContext } from "../context.ts";
import type { Style, Terminal } from "../output/terminal.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

interface ListedHook {
  readonly id: string;
  /** `endpoint`, `mapping`, or `preset <name>`. */
  readonly kind: string;
  /** Address below the base path; absent if any name matches. */
  readonly path?: string;
  /** Absent: POST. */
  readonly method?: "GET";
  readonly action: "wake" | "agent" | "result";
  /** What authorizes a request: the hook token, or a signature scheme. */
  readonly access: string;
  readonly transform?: string;
  readonly state: "ok" | "warning" | "error" | "off";
  readonly problems: readonly Pick<Problem, "severity" | "path" | "message" | "hint">[];
}

interface ListedHooks {
  readonly enabled: boolean;
  readonly path: string;
  readonly hooks: readonly ListedHook[];
  /** Problems of no particular mapping. */
  readonly problems: ListedHook["problems"];
}

export async function listHooks(
  context: CommandContext,
  _: readonly [],
  options: { readonly json?: boolean },
): Promise<number> {
  const bench = await openWorkbench(context);
  try {
    const listed = collect(bench);
    if (options.json === true) context.terminal.json(listed);
    else show(listed, context.terminal);
    return 0;
  } finally {
    await bench.close();
  }
}

const endpoints: readonly ListedHook[] = [
  { id: "wake", kind: "endpoint", path: "wake", action: "wake", access: "token", state: "ok", problems: [] },
  { id: "agent", kind: "endpoint", path: "agent", action: "agent", access: "token", state: "ok", problems: [] },
  { id: "runs", kind: "endpoint", path: "runs/RUN", action: "result", access: "token", state: "ok", problems: [] },
];

/** They accept nothing but the hook token. */
const withoutToken = endpoints.map(
  (endpoint): ListedHook => ({ ...endpoint, access: "off, because hooks.token is not set", state: "off" }),
);

function collect({ loaded, table }: Workbench): ListedHooks {
  const { hooks } = loaded.config;
  const all = [
    ...loaded.problems.filter(({ path }) => path === "hooks" || path.startsWith("hooks.")),
    ...table.problems,
  ];
  const problems = [...new Map(all.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()];
  const mappings = table.mappings.map((mapping) => listed(mapping, problems));
  // The table contains neither mappings that cannot be compiled nor disabled ones.
  const missing = hooks.mappings.flatMap((settings, index): readonly ListedHook[] => {
    const at = `hooks.mappings[${index}]`;
    if (table.mappings.some((mapping) => mapping.at === at)) return [];
    const own = problemsOf(at, problems);
    return [
      {
        id: settings.id ?? settings.match?.path ?? `mapping-${index + 1}`,
        kind: "mapping",
        ...(settings.match?.path === undefined ? {} : { path: settings.match.path }),
        action: settings.action,
        access: settings.signature?.scheme ?? "token",
        state: settings.enabled ? "error" : "off",
        problems: own,
      },
    ];
  });
  const attributed = new Set([...mappings, ...missing].flatMap((hook) => hook.problems));
  return {
    enabled: hooks.enabled && !loaded.disabled.has("hooks"),
    path: hooks.path,
    hooks: [...(hooks.token === undefined ? withoutToken : endpoints), ...mappings, ...missing],
    problems: problems.filter((problem) => !attributed.has(problem)),
  };
}

function listed(mapping: Mapping, problems: readonly Problem[]): ListedHook {
  const { id, preset, match, settings, faulty } = mapping;
  const own =
    preset === undefined
      ? problemsOf(mapping.at, problems)
      : problemsOf(mapping.at, problems).filter(({ message }) => message.includes(`preset ${preset}:`));
  const warned = own.length > 0 ? "warning" : "ok";
  return {
    id,
    kind: preset === undefined ? "mapping" : `preset ${preset}`,
    path: match.path,
    ...(settings.method === "GET" ? { method: settings.method } : {}),
    action: settings.action,
    access: accessOf(mapping),
    ...(settings.transform === undefined ? {} : { transform: settings.transform.module }),
    state: faulty ? "error" : warned,
    problems: own,
  };
}

function accessOf({ settings: { signature }, signedBy }: Mapping): string {
  if (signature === undefined) return "token";
  const state = signedBy === undefined ? "unusable " : "";
  return (
    `${state}signature ` +
    `(${signature.scheme})${signedBy?.signature.awaitsSecret === true ? ", without a secret" : ""}`
  );
}

function problemsOf(at: string, problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ path }) => path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`));
}

const marks: Readonly<Record<ListedHook["state"], readonly [mark: string, style: Style]>> = {
  ok: ["✓", "green"],
  warning: ["!", "yellow"],
  error: ["✗", "red"],
  off: ["·", "dim"],
};

function show({ enabled, path, hooks, problems }: ListedHooks, terminal: Terminal): void {
  const { style } = terminal;
  if (!enabled)
    terminal.line(style("yellow", "The hook server is off: hooks.enabled is not true, or hooks has an error."));
  terminal.table(
    hooks.map(({ id, kind, path: below, method, action, access, transform, state }) => {
      const [mark, colour] = marks[state];
      const what = [method, action, transform && `by ${transform}`].filter((part) => part).join(" ");
      return [
        style(colour, mark),
        style("bold", id),
        `${path}/${below ?? "*"}`,
        kind,
        what,
        style("dim", state === "off" && kind !== "endpoint" ? "switched off" : access),
      ];
    }),
  );
  for (const hook of hooks) printProblems(hook.id, hook.problems, terminal);
  printProblems("hooks", problems, terminal);
}

function printProblems(title: string, problems: ListedHook["problems"], terminal: Terminal): void {
  if (problems.length === 0) return;
  terminal.line();
  terminal.line(terminal.style("bold", title));
  for (const { severity, path, message, hint } of problems) {
    terminal.line(`  ${terminal.style(severity === "error" ? "red" : "yellow", severity)} ${path} ${message}.`);
    if (hint !== undefined && hint !== "") terminal.line(`  ${terminal.style("dim", "to change")} ${hint}`);
  }
}
