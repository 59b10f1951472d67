/** What takes each webhook request, in the order of matching, and its problems. */
import type { Problem } from "../config/problem.ts";
import type { LoadedConfig } from "../config/reading/load.ts";
import type { Mapping, MappingTable } from "../webhooks/mapping/compiled-mapping.ts";

export interface ListedHook {
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

export interface ListedHooks {
  readonly enabled: boolean;
  readonly path: string;
  readonly hooks: readonly ListedHook[];
  /** Problems of no particular mapping. */
  readonly problems: ListedHook["problems"];
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

/** `loaded`: the configuration that the table was compiled from. */
export function listedHooks(
  loaded: Pick<LoadedConfig, "config" | "problems" | "disabled">,
  table: MappingTable,
): ListedHooks {
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
