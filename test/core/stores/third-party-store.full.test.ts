/** A store of a third party: the gateway and every command use it in place of the embedded one. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { start, temporaryHome } from "../cli/command.ts";
import { run } from "../cli/command-runner.ts";
import { startGateway } from "../cli/gateway-runner.ts";

const fixture = join(import.meta.dirname, "..", "..", "fixtures", "store-elsewhere");
const password = "letmein";
const hookToken = "a-long-hook-token-for-tests";

interface Place {
  readonly home: string;
  readonly state: string;
  readonly data: string;
  readonly env: { readonly DATABASE_URL: string };
}

function placeWith(
  config: { readonly state?: object; readonly plugins?: object; readonly gateway?: object } = {},
): Place {
  const home = temporaryHome();
  const [state, data] = [join(home, ".service"), join(home, "data")];
  mkdirSync(state);
  const settings = {
    ...config,
    gateway: { port: 0, ...config.gateway },
    state: { store: "elsewhere", url: { env: "DATABASE_URL" }, ...config.state },
    plugins: { load: [fixture], ...config.plugins },
    hooks: { enabled: true, token: hookToken },
  };
  writeFileSync(join(state, "config.jsonc"), JSON.stringify(settings), { mode: 0o600 });
  return { home, state, data, env: { DATABASE_URL: `elsewhere://ada:${password}@here${data}?sslmode=on` } };
}

async function startAt({ home, env }: Place) {
  const gateway = startGateway(["gateway"], { home, env });
  const [, url = ""] = /ready at (\S+)/.exec(await gateway.until(/The gateway is ready at \S+/)) ?? [];
  const stop = async () => {
    gateway.child.kill("SIGTERM");
    return await gateway.finished;
  };
  return { url, stop };
}

const json = async (place: Place, ...args: readonly string[]): Promise<unknown> => {
  const { code, out, err } = await run([...args, "--json"], place);
  expect([args, code, err]).toEqual([args, 0, ""]);
  return JSON.parse(out) as unknown;
};

async function wake(url: string): Promise<string> {
  const answer = await fetch(`${url}/hooks/agent`, {
    method: "POST",
    headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json", prefer: "wait=30" },
    body: JSON.stringify({ message: "how are you?" }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { readonly runId: string }).runId;
}

/** Who has opened the store so far. */
const openings = ({ data }: Place) =>
  readFileSync(join(data, "opened.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly owner: boolean; readonly node: string });

describe("a gateway on a third-party store", () => {
  test("stores its events there, and commands read and change them there", async () => {
    const place = placeWith();
    const gateway = await startAt(place);
    const id = await wake(gateway.url);
    expect(await json(place, "why", id)).toMatchObject({ id, state: "settled" });
    expect(await json(place, "events", "list")).toMatchObject({
      events: expect.arrayContaining([expect.objectContaining({ id })]),
    });
    expect(await json(place, "hooks", "deliveries")).toMatchObject({ deliveries: [{ id }] });
    expect(await json(place, "status")).toMatchObject({ running: true, store: "elsewhere" });
    await expect
      .poll(async () => ((await json(place, "sessions", "list")) as { readonly sessions: readonly object[] }).sessions)
      .toHaveLength(1);
    expect(await run(["sessions", "delete", "agent:main:main"], place)).toMatchObject({ code: 0 });
    expect(await json(place, "sessions", "list")).toEqual({ sessions: [] });
    expect(await json(place, "privacy", "erase", "chat:7")).toMatchObject({
      kept: expect.arrayContaining([expect.stringContaining("The database may keep the bytes of removed rows")]),
    });
    expect((await gateway.stop()).code).toBe(0);

    const { node } = openings(place)[0] ?? {};
    expect(openings(place)).toEqual([
      { owner: true, node },
      ...Array(openings(place).length - 1).fill({ owner: false, node }),
    ]);
    expect(readFileSync(join(place.state, "node"), "utf8")).toBe(`${node}\n`);
    expect(node).toMatch(/^[A-Za-z0-9][A-Za-z0-9.-]*-[0-9a-f]{8}$/);
    // What is left of the state directory has no database, and names no password.
    expect(readdirSync(place.state).sort()).toEqual([
      "cache",
      "config.jsonc",
      "gateway-token",
      "lock.db",
      "logs",
      "node",
    ]);
    const log = readFileSync(join(place.state, "logs", "gateway.log"), "utf8");
    expect(log).toMatch(/"address":"\[secret\]","password":"\[secret\]",.*"the store was opened"/);
    expect(log).not.toContain(password);

    const again = await startAt(place);
    expect(await json(place, "why", id)).toMatchObject({ id, state: "settled" });
    expect(openings(place).filter(({ owner }) => owner)).toEqual([
      { owner: true, node },
      { owner: true, node },
    ]);
    await again.stop();
  });

  test("lets doctor check that store, without printing its password, instead of the embedded database", async () => {
    const place = placeWith();
    const { code, out } = await run(["doctor"], place);
    expect([code, out]).toEqual([0, expect.stringContaining(`the folder ${place.data} is there`)]);
    expect(out).toContain(`its address is elsewhere://here${place.data}`);
    expect(out).not.toContain(password);
  });

  test("reports a wrong address at startup, in commands and in doctor without printing the password", async () => {
    const place = placeWith();
    const env = { DATABASE_URL: `elsewhere://ada:secret%2Fword@here:5432${place.data}?password=another-secret` };
    const address = `elsewhere://here:5432${place.data}`;
    for (const line of [["gateway"], ["status"], ["doctor"]]) {
      const { code, out, err } = await run(line, { ...place, env });
      expect([line, code]).toEqual([line, 1]);
      expect(out + err).toContain(
        `The store elsewhere cannot be opened at ${address} (state.url): the password [secret] of ${address} is wrong`,
      );
      expect(out + err).toContain("Check that the database runs and can be reached");
      expect(out + err).not.toMatch(/secret%2Fword|secret\/word|another-secret/);
    }
  });

  test("lets config validate name the intended store", async () => {
    const { code, out, err } = await run(["config", "validate"], placeWith({ state: { store: "elswhere" } }));
    expect(code).toBe(1);
    expect(out + err).toContain(
      "state.store: there is no store elswhere. Did you mean elsewhere? Known stores: sqlite, ",
    );
  });

  test("shows its events in dev mode and rejects a restart with a wrong address before stopping anything", async () => {
    const place = placeWith();
    const plugin = join(place.home, "quiet");
    mkdirSync(plugin);
    const declaration = `definePlugin({ id: "quiet", version: "1.0.0", host: "^0.2.0", setup() {} })`;
    writeFileSync(
      join(plugin, "index.ts"),
      `import { definePlugin } from "service-gateway/sdk"; export default ${declaration};`,
    );
    const file = join(place.state, "config.jsonc");
    const dev = start(["dev", plugin, "--config", file], place);
    const [, url = ""] = /ready at (http:\S+)\.\n/.exec(await dev.until(/take effect when they are saved/)) ?? [];
    const id = await wake(url);
    await dev.until(new RegExp(`hooks agent ${id}: ingress hook`));
    for (const variable of ["NOT_SET", "HOME"]) {
      writeFileSync(file, readFileSync(file, "utf8").replace(/"env":"\w+"/, `"env":"${variable}"`));
      const { code, err } = await run(["restart", "--config", file], place);
      expect([variable, code, err]).toEqual([variable, 1, expect.stringContaining("state.url: ")]);
    }
    expect(dev.child.exitCode).toBeNull();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    dev.child.kill("SIGTERM");
    await dev.finished;
  });

  test("rejects --accept-new-state, which applies only to the embedded store", async () => {
    const { code, err } = await run(["gateway", "--accept-new-state"], placeWith());
    expect([code, err]).toEqual([
      2,
      expect.stringContaining("--accept-new-state is for the store sqlite, and state.store is elsewhere"),
    ]);
  });

  test("leaves a state directory that the embedded store treats as new", async () => {
    const place = placeWith({ gateway: { node: "eu-1" } });
    const gateway = await startAt(place);
    await gateway.stop();
    expect(openings(place)).toEqual([{ owner: true, node: "eu-1" }]);
    writeFileSync(join(place.state, "config.jsonc"), JSON.stringify({ gateway: { port: 0 } }));
    const embedded = await startAt(place);
    await embedded.stop();
    expect(readdirSync(place.state)).toContain("state.db");
  });
});
