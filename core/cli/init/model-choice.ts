/** How a person names a model: by its number in a list, by its provider, or in full. */
import { commonApi, knownProvider, knownProviderIds, listingHeaders } from "../../config/known-providers.ts";
import { isFullModelName } from "../../config/model-names.ts";
import { type ProviderSettings, providerOf, providerSettings } from "../../config/model-providers.ts";
import { createSecrets } from "../../config/secrets.ts";
import { isListed, reach } from "../models/reach.ts";
import type { Questions } from "../output/questions.ts";
import type { Setup, Wanted } from "./setup.ts";

export interface ChosenModel {
  readonly model: string;
  /** What its provider needs. */
  readonly values: readonly Wanted[];
}

/** More would fill the screen. */
const mostListed = 9;
/** Models that turn texts into numbers, or sound into text, do not answer messages. */
const isOfOtherKind = /embed|rerank|whisper|\btts\b/i;

const listedAt = async (address: string, headers?: Readonly<Record<string, string>>) => {
  const { models = [], detail } = await reach(address, { now: () => performance.now(), headers });
  return { models: models.filter((name) => !isOfOtherKind.test(name)), detail };
};

/** The models of the servers that listen at their usual ports on this machine, as `provider/model`. */
export async function localModels({ loaded }: Setup): Promise<readonly string[]> {
  const local = knownProviderIds.filter((id) => knownProvider(id)?.keyVariable === undefined);
  const found = await Promise.all(
    local.map(async (id) => {
      const address = providerSettings(loaded.config, id)?.address;
      return address === undefined ? [] : (await listedAt(address)).models.map((name) => `${id}/${name}`);
    }),
  );
  return found.flat().slice(0, mostListed);
}

export function showChoice(setup: Setup, local: readonly string[]): void {
  if (local.length === 0) setup.say("No model server answers at its usual port on this machine.");
  else setup.list(local, "on this machine");
  const remote = knownProviderIds.filter((id) => knownProvider(id)?.keyVariable !== undefined);
  setup.say(`With a key: ${remote.join(", ")}. Type one of these names to see its models, or provider/model at once.`);
  setup.say("Any other name is a server of your own, whose address comes next.");
}

/** What else must be known about a typed name; `undefined` if the person must choose again. */
export async function chooseModel(setup: Setup, ask: Questions, typed: string): Promise<ChosenModel | undefined> {
  const id = isFullModelName(typed) ? providerOf(typed) : typed;
  if (!/^[A-Za-z][\w.-]*$/.test(id)) {
    setup.say(`"${typed}" is neither a number of the list nor of the form provider/model.`, { sign: "bad" });
    return undefined;
  }
  const provider = await askProvider(setup, ask, id);
  if (provider === undefined || isFullModelName(typed)) return provider && { model: typed, values: provider.values };
  const name = await askName(setup, ask, { ...provider, id });
  return name === "" ? undefined : { model: `${id}/${name}`, values: provider.values };
}

interface Provider {
  readonly values: readonly Wanted[];
  readonly settings: ProviderSettings;
  readonly key: string | undefined;
}

/** The address and the key of a provider, as far as they are not known. */
async function askProvider(setup: Setup, ask: Questions, id: string): Promise<Provider | undefined> {
  const known = providerSettings(setup.loaded.config, id);
  let values: readonly Wanted[] = [];
  if (known?.address === undefined) {
    setup.say(`Where is ${id}? Its address is one such as http://127.0.0.1:8000/v1.`);
    const address = await ask.ask("  Address (Enter: back)");
    if (address === "") return undefined;
    values = addressValues(setup, id, address);
  }
  const settings = providerSettings((await setup.tried(values)).config, id);
  if (settings === undefined) return undefined;
  const before = knownKey(setup, id, settings);
  const isOwn = values.length > 0;
  if (before !== undefined || !(settings.needsKey || isOwn)) return { values, settings, key: before };
  const key = await ask.password(`  Key of ${id} (hidden; Enter: ${isOwn ? "none" : "back"})`);
  if (key === "") return isOwn ? { values, settings, key: undefined } : undefined;
  return { values: [...values, keyValue(setup, id, key)], settings, key };
}

async function askName(setup: Setup, ask: Questions, { id, settings, key }: Provider & { readonly id: string }) {
  const { models, detail } = await listedAt(settings.address ?? "", listingHeaders(settings.api ?? commonApi, key));
  if (models.length === 0) setup.say(`${id} does not list its models${detail === undefined ? "" : `: ${detail}`}.`);
  setup.list(models.slice(0, mostListed));
  if (models.length > mostListed) setup.say(`and ${models.length - mostListed} more, by their names.`);
  const answer = await ask.ask(`  Model (${models.length > 0 ? "number or name" : "name"}; Enter: back)`);
  const name = models[Number(answer) - 1] ?? answer;
  if (name !== "" && models.length > 0 && !isListed(models, name))
    setup.say(`${id} does not list ${name}.`, { sign: "note" });
  return name;
}

/** The key that the configuration or the environment contains. */
function knownKey(
  { context, loaded }: Setup,
  id: string,
  { apiKey, keyVariable }: Pick<ProviderSettings, "apiKey" | "keyVariable">,
): string | undefined {
  const value = apiKey ?? (keyVariable === undefined ? undefined : { env: keyVariable });
  if (value === undefined) return undefined;
  try {
    const secrets = createSecrets({ env: context.env, directory: loaded.directory });
    return secrets.resolve(value, `models.providers.${id}.apiKey`);
  } catch {
    return undefined;
  }
}

export function keyValue(setup: Setup, id: string, text: string): Wanted {
  const secret = setup.secret(["models", "providers", id, "apiKey"], { name: `${id}-key`, text });
  return { ...secret, comment: "The key is in a file beside this one that only you can read." };
}

export function addressValues({ loaded }: Setup, id: string, address: string): readonly Wanted[] {
  const provider = ["models", "providers", id];
  const isKnown = providerSettings(loaded.config, id) !== undefined;
  return [
    ...(isKnown ? [] : [{ path: [...provider, "api"], value: commonApi }]),
    { path: [...provider, "baseUrl"], value: address },
  ];
}
