/** Rules about a channel's declaration and its options. */
import { isDeepStrictEqual } from "node:util";
import { nearestOf } from "../../../config/index.ts";
import { checkDeclaration, isObject } from "../../../host/index.ts";
import type { ChannelCapabilities, ChannelConnection, ChannelDefinition } from "../../../sdk/contract.ts";
import { type Bench, readSection } from "../bench.ts";
import type { OptionalFunction } from "../options.ts";
import type { Rule } from "../rule.ts";

/** The functions that the host calls for each capability. */
const functionsOf: Partial<Record<keyof ChannelCapabilities, readonly (keyof ChannelConnection)[]>> = {
  edits: ["remove", "preview"],
  reactions: ["react"],
  typing: ["typing"],
  menu: ["menu"],
  stickers: ["findMedia"],
};

/** What a connection may have besides: the contract tries each where it is listed. */
const optional: readonly OptionalFunction[] = [
  "admit",
  "fetchMedia",
  "members",
  "pause",
  "probe",
  "reaches",
  "resolve",
  "standBy",
  "update",
];

/** All functions that a connection may have; the compiler compares them with its type. */
const known: Readonly<Record<keyof ChannelConnection, true>> = {
  ...{ start: true, standBy: true, parse: true, render: true, send: true, admit: true, close: true, pause: true },
  ...{ update: true, remove: true, preview: true, react: true, typing: true, menu: true, findMedia: true },
  ...{ resolve: true, reaches: true, probe: true, members: true, fetchMedia: true },
};

/** The functions of an object, without those of its classes. */
const ownFunctions = (of: object): readonly string[] =>
  Object.getOwnPropertyNames(of).filter((name) => typeof (of as Record<string, unknown>)[name] === "function");

/** Functions of the classes of an object. They may be for its own use. */
function inheritedFunctions(of: object): readonly string[] {
  const from = Object.getPrototypeOf(of) as object | null;
  if (from === null || from === Object.prototype) return [];
  return [...ownFunctions(from).filter((name) => name !== "constructor"), ...inheritedFunctions(from)];
}

/** A function that the gateway never calls is usually misspelled, or its capability is not declared. */
async function callsEachFunction({ capabilities, connection }: Bench): Promise<void> {
  const absent = Object.keys(known).filter((name) => !(name in connection));
  for (const [names, isOwn] of [
    [ownFunctions(connection), true],
    [inheritedFunctions(connection), false],
  ] as const)
    for (const name of names) {
      if (Object.hasOwn(known, name)) continue;
      const meant = nearestOf(name, absent);
      if (meant !== undefined || isOwn)
        throw new Error(
          `The connection has a function ${name}, which the gateway does not call. ` +
            (meant === undefined ? "Remove it, or correct its name." : `Did you mean ${meant}?`),
        );
    }
  for (const [capability, names] of Object.entries(functionsOf)) {
    const dead = names.find((name) => typeof connection[name] === "function");
    if (dead !== undefined && capabilities[capability as keyof ChannelCapabilities] !== true)
      throw new Error(
        `The connection has a function ${dead}, which the gateway calls only with the capability ${capability}. ` +
          "Declare the capability, or remove the function.",
      );
  }
}

/** The parts of the gateway that ask what an account can do must all get the same answer. */
async function dependsOnOptions({ definition, capabilities, stated, test }: Bench): Promise<void> {
  const { capabilities: declared } = definition;
  if (typeof declared !== "function") return;
  const options = test.account.options as never;
  const before = structuredClone(options);
  const again = declared(options);
  if (!isDeepStrictEqual(again, capabilities))
    throw new Error(
      "capabilities answers differently for the same options: " +
        `${JSON.stringify(capabilities)}, then ${JSON.stringify(again)}. It must depend on the options only.`,
    );
  if (!isDeepStrictEqual(options, before)) throw new Error("capabilities changes the options. It must be pure.");
  const isOn = (of: ChannelCapabilities, name: string) => (of[name as keyof ChannelCapabilities] ?? false) !== false;
  const other = [...new Set([...Object.keys(capabilities), ...Object.keys(stated)])].filter(
    (name) => isOn(capabilities, name) !== isOn(stated, name),
  );
  if (other.length > 0)
    throw new Error(
      `The options of the platform change the capabilities ${other.join(", ")}, and the rules were chosen without ` +
        "them. Give the options that capabilities depend on in the options of the contract.",
    );
}

async function listsFunctions({ connection, functions }: Bench): Promise<void> {
  for (const name of optional) {
    const isThere = typeof connection[name] === "function";
    if (isThere && !functions.includes(name))
      throw new Error(`The connection has ${name}(). List it in functions, so that its rules are tested.`);
    if (!isThere && functions.includes(name))
      throw new Error(`functions lists ${name}, but the connection has no ${name}().`);
  }
}

/** A value of another type than the schema's. */
function wrongFor({ type }: { readonly type?: unknown }): unknown {
  return type === "string" ? { no: "text" } : "no value of this option";
}

async function refusesWrongOptions({ definition, section, test }: Bench): Promise<void> {
  const properties = Object.entries(
    definition.options.properties as Readonly<Record<string, { readonly type?: unknown; readonly secret?: true }>>,
  );
  for (const [name, schema] of properties) {
    if (definition.secrets?.includes(name) === true || schema.secret === true || schema.type === undefined) continue;
    const { problems = [] } =
      (await readSection(definition, { ...section, [name]: wrongFor(schema) }, test.account.directory)) ?? {};
    if (!problems.some(({ path, severity }) => severity === "error" && path.includes(name)))
      throw new Error(`The option ${name} accepts a value of any type. Give it a specific schema.`);
  }
  const { problems = [] } =
    (await readSection(definition, { ...section, optionThatDoesNotExist: 1 }, test.account.directory)) ?? {};
  if (problems.length === 0)
    throw new Error("An unknown option is accepted, so a misspelled one would have no effect.");
}

function declaresSecrets({ options, secrets = [], secretFiles = {} }: ChannelDefinition): void {
  const looksSecret = /(?:token|secret|password|passphrase|api_?key|private_?key)$/i;
  for (const [name, schema] of Object.entries(options.properties)) {
    if (!looksSecret.test(name) || (isObject(schema) && schema.type !== undefined && schema.type !== "string"))
      continue;
    if (isObject(schema) && schema.secret === true) continue;
    if (!secrets.includes(name) && secretFiles[name] === undefined)
      throw new Error(
        `The option ${name} looks like a secret. Declare it with secretText, or list it in secrets, so that ` +
          "it can be a reference and is never logged.",
      );
  }
}

function namesOptions({ options, environment = {}, credentials = [] }: ChannelDefinition): void {
  for (const name of [...Object.keys(environment), ...credentials])
    if (!Object.hasOwn(options.properties, name))
      throw new Error(
        `There is no option ${name}, but environment or credentials has it. Write the name of an option there: ` +
          'environment: { token: "ACME_TOKEN" }.',
      );
}

export const declarationRules: readonly Rule[] = [
  {
    title: "declaration > is valid",
    async run({ definition }) {
      checkDeclaration(definition.id, { ...definition, options: undefined, channel: definition, setup() {} });
    },
  },
  {
    title: "declaration > each capability has its function",
    async run({ capabilities, connection }) {
      for (const [capability, names] of Object.entries(functionsOf)) {
        const missing = names.find((name) => typeof connection[name] !== "function");
        if (capabilities[capability as keyof ChannelCapabilities] === true && missing !== undefined)
          throw new Error(`The capability ${capability} is declared, but the connection has no ${missing}().`);
      }
    },
  },
  { title: "declaration > the capabilities depend on the options alone", run: dependsOnOptions },
  { title: "declaration > the gateway calls each function of the connection", run: callsEachFunction },
  { title: "declaration > each function that no capability requires is listed", run: listsFunctions },
  { title: "options > an invalid or unknown option is refused by name", run: refusesWrongOptions },
  {
    title: "options > environment and credentials name options",
    run: async ({ definition }) => namesOptions(definition),
  },
  {
    title: "options > an option that looks like a secret is declared as one",
    run: async ({ definition }) => declaresSecrets(definition),
  },
];
