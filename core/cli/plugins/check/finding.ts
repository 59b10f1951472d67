/** What `plugins check` can find, as a table of rules. */

export type Severity = "error" | "warning" | "note";

interface Rule {
  readonly severity: Severity;
  /** What the rule asks for. */
  readonly summary: string;
  /** What to do about a finding. */
  readonly fix: string;
}

export const rules = {
  "host-range": {
    severity: "error",
    summary: "The plugin is written for this version of the program.",
    fix: "Change the range in package.json and in host, or install a version that it admits.",
  },
  "load-failed": { severity: "error", summary: "The module loads.", fix: "Correct the module." },
  "declaration-invalid": {
    severity: "error",
    summary: "The default export is a valid declaration.",
    fix: "Create it with definePlugin, defineChannel, defineEngine or definePreset.",
  },
  "setup-failed": {
    severity: "error",
    summary: "The plugin starts in a gateway.",
    fix: "Correct setup, or pass the options that it needs with --options.",
  },
  "option-description": {
    severity: "warning",
    summary: "Each option has a description.",
    fix: "Add a description: editors and `config schema` show it to users.",
  },
  "option-secret": {
    severity: "error",
    summary: "Options with secrets are declared as such.",
    fix: "List the option in secrets: then it can be a reference, and the log leaves it out.",
  },
  "option-name": {
    severity: "error",
    summary: "No option has the name of a gateway option.",
    fix: "Give the option another name.",
  },
  "option-default": {
    severity: "error",
    summary: "Each default matches its own schema.",
    fix: "Correct the default or the schema.",
  },
  "section-unread": {
    severity: "error",
    summary: "The plugin reads each section that it declares.",
    fix: "Read it in setup, with host.section or host.preset, or remove it: what users write there has no effect.",
  },
  "member-unknown": {
    severity: "error",
    summary: "Each member of the declaration is part of the contract.",
    fix:
      "Remove the member, or correct its name. core/sdk/SURFACE.md of the package lists the members of each " +
      "declaration.",
  },
  "member-dead": {
    severity: "error",
    summary: "Each member of the declaration has an effect.",
    fix: "Remove the member, or give it what it needs.",
  },
  "contract-broken": {
    severity: "error",
    summary: "The channel passes the contract.",
    fix: "Correct the channel. examples/authors/testing-channels.md of the package has the rules.",
  },
  "contract-not-run": {
    severity: "note",
    summary: "The channel provides fixtures, so that the contract can be tested without a platform.",
    fix:
      "Export options and fixtures from test/fixtures.ts, as `plugins create --kind channel` does, and " +
      "install vitest.",
  },
  "package-entry": {
    severity: "error",
    summary: "The package contains its entry.",
    fix: "Add the folder of the entry to files in package.json.",
  },
  "package-secret": {
    severity: "error",
    summary: "The package contains no file with secrets.",
    fix: "List the files to publish under files in package.json.",
  },
  "package-tests": {
    severity: "warning",
    summary: "The package contains no tests.",
    fix: "List the files to publish under files in package.json.",
  },
  "package-version": {
    severity: "warning",
    summary: "package.json and the declaration have the same version.",
    fix: "Raise both when you publish.",
  },
  "package-peer": {
    severity: "warning",
    summary: "The package declares the program as an optional peer, and does not install a copy of it.",
    fix: "Move it to peerDependencies, and mark it as optional in peerDependenciesMeta.",
  },
  "package-not-read": {
    severity: "note",
    summary: "npm can list the contents of the package.",
    fix: "Install npm, or fix the error that it reports.",
  },
  "licence-missing": {
    severity: "warning",
    summary: "The package and all its dependencies have a licence.",
    fix: "Add license to package.json, or replace the dependency.",
  },
  "licence-copyleft": {
    severity: "warning",
    summary: "No dependency has a licence with conditions for the whole program.",
    fix: "Make sure that your users may accept the licence, or replace the dependency.",
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleId = keyof typeof rules;

/** A place in a file. The first line is 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

export interface Finding {
  readonly rule: RuleId;
  readonly severity: Severity;
  /** One sentence. */
  readonly message: string;
  readonly fix: string;
  readonly at?: Place;
}

export function finding(rule: RuleId, message: string, at?: Place, fix: string = rules[rule].fix): Finding {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return { rule, severity: rules[rule].severity, message: sentence, fix, at };
}

/** Whether findings make a check fail: errors do, with `strict` warnings too. */
export function fails(findings: readonly Finding[], strict: boolean): boolean {
  return findings.some(({ severity }) => severity === "error" || (strict && severity === "warning"));
}
