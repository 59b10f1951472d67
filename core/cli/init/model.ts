/** The second step of `init`: the model that answers. It is asked something short before anything is written. */
import type { ModelTest } from "../../agents/turn/model-test.ts";
import { agentIds, agentSettings } from "../../config/agents.ts";
import { isRecord } from "../../config/checking/validate.ts";
import { embeddedStore } from "../../config/embedded-store.ts";
import { isFullModelName } from "../../config/model-names.ts";
import { providerOf } from "../../config/model-providers.ts";
import { getPath } from "../../config/path.ts";
import { HostError } from "../../contract/errors.ts";
import { addressValues, chooseModel, keyValue, localModels, showChoice } from "./model-choice.ts";
import { readSecretInput } from "./secret-input.ts";
import { type Setup, unfinished, type Wanted } from "./setup.ts";

const modelPath = ["agents", "defaults", "model"] as const;
const progressAfterMs = 1_000;

export async function setUpModel(setup: Setup): Promise<void> {
  const { options, ask } = setup;
  if (options.model !== undefined) return await fromOptions(setup, options.model);
  if (options.keyFile !== undefined || options.modelAddress !== undefined)
    throw new HostError("usage", { reason: "--key-file and --model-address need --model" });
  if ((await keepsModel(setup)) || ask === undefined) return;
  setup.title("The model that answers");
  const local = await localModels(setup);
  showChoice(setup, local);
  for (;;) {
    const answer = await ask.ask("  Model (number or name; Enter skips)");
    if (answer === "") {
      setup.say("Skipped: until there is a model, the bot repeats what people write.", { sign: "note" });
      return;
    }
    const chosen = await chooseModel(setup, ask, local[Number(answer) - 1] ?? answer);
    if (chosen === undefined) continue;
    const reason = await tryModel(setup, chosen.model, chosen.values);
    if (reason === undefined) return;
    setup.say(reason, { sign: "bad" });
  }
}

async function fromOptions(setup: Setup, model: string): Promise<void> {
  const { keyFile, modelAddress } = setup.options;
  if (!isFullModelName(model))
    throw new HostError("usage", { reason: `--model: ${model} is not of the form provider/model` });
  const id = providerOf(model);
  const values = modelAddress === undefined ? [] : addressValues(setup, id, modelAddress);
  const key = keyFile === undefined ? [] : [keyValue(setup, id, await readSecretInput("--key-file", keyFile))];
  const reason = await tryModel(setup, model, [...values, ...key]);
  if (reason !== undefined) throw unfinished(`--model: ${reason}`);
}

/** Whether the model of the configuration works already, so that there is nothing to ask. */
async function keepsModel(setup: Setup): Promise<boolean> {
  const { config } = setup.loaded;
  const [agent = ""] = agentIds(config);
  const { model } = agentSettings(config, agent);
  if (model === undefined) return false;
  const test = await testModel(setup, {}, []);
  if (test.error === undefined) {
    answers(setup, test);
    return true;
  }
  setup.say(`The model of the configuration does not answer. ${reasonOf(test)}`, { sign: "bad" });
  return false;
}

/** Asks the model. Resolves with what is wrong; otherwise the values are to be written. */
async function tryModel(setup: Setup, model: string, values: readonly Wanted[]): Promise<string | undefined> {
  const before = getPath(setup.loaded.written, modelPath);
  const path = isRecord(before) ? [...modelPath, "primary"] : [...modelPath];
  const wanted = [{ path, value: model, comment: "The model that answers, as provider/model." }, ...values];
  const test = await testModel(setup, { model }, wanted);
  if (test.error !== undefined) return reasonOf(test);
  setup.want(...wanted);
  answers(setup, test);
  return undefined;
}

function reasonOf({ model, error }: ModelTest): string {
  if (error === undefined) return "";
  const hint = error.hint === undefined ? "" : ` ${error.hint}`;
  return `${model}: ${error.reason} (${error.code}).${hint}`;
}

function answers(setup: Setup, { model, firstWordMs, totalMs }: ModelTest): void {
  setup.result.model = {
    model,
    ...(firstWordMs !== undefined && { firstWordMs }),
    ...(totalMs !== undefined && { totalMs }),
  };
  const seconds = ((firstWordMs ?? totalMs ?? 0) / 1_000).toFixed(1);
  setup.say(`${model} answers; the first word came after ${seconds} s.`, { sign: "good" });
}

/** Like `models test`, with values that are not written yet, and with a state that is removed afterwards. */
async function testModel(
  setup: Setup,
  asked: { readonly model?: string },
  wanted: readonly Wanted[],
): Promise<ModelTest> {
  const { context } = setup;
  const { openModelTest } = await import("../../gateway/model-test.ts");
  const progress = setTimeout(() => setup.say("Asking the model ..."), progressAfterMs);
  const stateDirectory = await setup.scratch();
  const store = await context.openStateAt({ directory: stateDirectory, store: embeddedStore }, { owner: false });
  try {
    const loaded = await setup.tried(wanted);
    const tester = await openModelTest({ loaded, store, stateDirectory, environment: context.env, now: context.now });
    try {
      return await tester.test(asked);
    } finally {
      await tester.close();
    }
  } finally {
    clearTimeout(progress);
    await store.close();
  }
}
