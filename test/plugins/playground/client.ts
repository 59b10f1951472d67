import { createPlatform, type Platform, type PlatformOptions } from "../../../plugins/playground/platform/index.ts";

export const token = "7000000001:test-token";
export const ada = 1001;
export const bela = 1002;
export const kitchen = -1_001_000_000_001;
export const workshop = -1_001_000_000_002;

export interface Answer {
  readonly status: number;
  readonly ok: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: results differ by method and are looked into by the tests
  readonly result: any;
  readonly description: string;
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

export interface TestPlatform extends AsyncDisposable {
  readonly platform: Platform;
  call(method: string, params?: object): Promise<Answer>;
  form(method: string, fields: Readonly<Record<string, string | File>>): Promise<Answer>;
}

/** A platform on a free port, with one bot, to which Ada has written. */
export async function openPlatform(options: Partial<PlatformOptions> = {}): Promise<TestPlatform> {
  const platform = await createPlatform({ bots: [{ token, username: "house_bot", name: "House" }], ...options });
  platform.act.say(ada, ada, "/start");
  return {
    platform,
    call: (method, params = {}) => callBot(platform.url, token, method, params),
    async form(method, fields) {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return read(await fetch(`${platform.url}/bot${token}/${method}`, { method: "POST", body }));
    },
    [Symbol.asyncDispose]: () => platform.close(),
  };
}

export async function callBot(url: string, key: string, method: string, params: object): Promise<Answer> {
  return read(
    await fetch(`${url}/bot${key}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(params),
    }),
  );
}

async function read(response: Response): Promise<Answer> {
  return { status: response.status, ...((await response.json()) as Omit<Answer, "status">) };
}

/** A PNG head with the given size; the platform looks at nothing else. */
export function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32BE(0x89504e47, 0);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
