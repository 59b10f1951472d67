/** `models list`: which models are configured, whether they can be asked, their context and their price. */
import { createSecrets } from "../../config/secrets.ts";
import { programCommand } from "../../contract/command.ts";
import { asSentence, reasonOf } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import { gatherModels, type ModelUse, type ModelView, type Place } from "../../reports/models.ts";
import type { Store } from "../../state/store.ts";
import type { CommandContext } from "../context.ts";
import { isListed, type Reached, reachAll } from "./reach.ts";

interface Listed extends ModelView {
  readonly server?: Omit<Reached, "models">;
}

/** More names fill the line. */
const mostNamed = 10;

/** What the server says about the model, which the configuration cannot know. */
function withServer({ view, settings }: Place, servers: ReadonlyMap<string, Reached>): Listed {
  const found = view.address === undefined ? undefined : servers.get(view.address);
  if (found === undefined || view.problem !== undefined) return view;
  const { models, ...server } = found;
  const listed = { ...view, server };
  if (!server.reachable) return { ...listed, problem: `${view.address} is not reachable: ${server.detail ?? ""}.` };
  const id = view.model.slice(view.model.indexOf("/") + 1);
  // Only a server that needs no key shows to everyone what it has.
  if (view.key !== "not needed" || settings?.headers !== undefined || models === undefined || isListed(models, id))
    return listed;
  const names = models.slice(0, mostNamed).join(", ");
  const has = models.length === 0 ? "no model" : `${names}${models.length > mostNamed ? ", ..." : ""}`;
  return { ...listed, problem: `The server at ${view.address} does not have it; it has ${has}.` };
}

export async function listModels(
  context: CommandContext,
  _: readonly [],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { config, secretsDirectory } = await effective(context);
  const secrets = createSecrets({ env: context.env, directory: secretsDirectory });
  const places = await withState(context, (store) => gatherModels(config, { secrets, store, now: context.now }));
  const servers = await reachAll(places, { now: () => performance.now() });
  const models = places.map((place) => withServer(place, servers));
  if (json === true) context.terminal.json({ models });
  else show(models, context);
  // Only models that agents use by themselves count.
  return models.some(({ problem, uses }) => problem !== undefined && uses.some(({ as }) => as !== "allowed")) ? 1 : 0;
}

const noState: Pick<Store, "get"> = { get: async () => null };

/** Before the first start, and without the right to read the state, nothing is known of what servers have shown. */
async function withState<Result>(
  context: CommandContext,
  look: (store: Pick<Store, "get">) => Promise<Result>,
): Promise<Result> {
  let store: Store;
  try {
    if (!(await context.hasState())) return await look(noState);
    store = await context.openState();
  } catch (error) {
    context.terminal.note(`What was learned from servers is not shown: ${asSentence(reasonOf(error))}`);
    return await look(noState);
  }
  try {
    return await look({ get: (namespace, key) => store.get(namespace, key) });
  } finally {
    await store.close();
  }
}

async function effective(context: CommandContext) {
  const { dirname } = await import("node:path");
  return { config: (await context.load()).config, secretsDirectory: dirname(context.configFile.file) };
}

const useOf = ({ agent, as, alias }: ModelUse): string =>
  `${visibleLine(agent, 40)} ${as}${alias === undefined ? "" : ` (${visibleLine(alias, 40)})`}`;

const priceText = ({ price }: ModelView): string =>
  price === null ? "-" : price.input === 0 && price.output === 0 ? "free" : `$${price.input} / $${price.output}`;

/** `8,192 stated`, `4,096 learned 2026-11-26`. */
function contextText({ contextTokens, contextSource = "assumed", contextLearnedAt }: ModelView): string {
  if (contextTokens === null) return "-";
  const date = contextLearnedAt === undefined ? "" : ` ${new Date(contextLearnedAt).toISOString().slice(0, 10)}`;
  return `${contextTokens.toLocaleString("en-US")} ${contextSource}${date}`;
}

function serverText({ server, address, key }: Listed): string {
  if (address === undefined) return "-";
  const answers = server === undefined ? "" : server.reachable ? `answers in ${server.ms} ms` : "no answer";
  const ofKey = { set: "key is set", missing: "no key", "not needed": "" }[key];
  return [address, [answers, ofKey].filter((part) => part !== "").join(", ")].join("  ").trimEnd();
}

function show(models: readonly Listed[], { terminal }: CommandContext): void {
  if (models.length === 0) {
    terminal.line(`No model is configured. \`${programCommand} init\` asks for one.`);
    return;
  }
  const dim = (cell: string) => terminal.style("dim", cell);
  terminal.table([
    ["model", "for", "context", "price of 1M tokens in/out", "server"].map(dim),
    ...models.map((one) => [
      terminal.style(one.problem === undefined ? "bold" : "red", visibleLine(one.model, 80)),
      one.uses.map(useOf).join(", "),
      contextText(one),
      priceText(one),
      serverText(one),
    ]),
  ]);
  for (const { model, problem } of models)
    if (problem !== undefined) terminal.line(`${visibleLine(model, 80)}: ${visibleLine(problem, 500)}`);
}
