import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../clients/", import.meta.url));
const require = createRequire(`${folder}package.json`);

/**
 * A package of `test/clients`, which `npm run test:all` installs: a maker's own client, or a server that others wrote.
 * Its types are not installed with this repository; name the part that the test uses.
 *
 * @example const { Client } = makersClient<{ Client: new (options: object) => EventEmitter }>("discord.js");
 */
export function makersClient<T>(name: string): T {
  try {
    return require(name) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new Error(
      `${name} is not installed in ${folder}. Run \`node .ci/install-clients.cjs\`, or \`npm run test:all\`.`,
      {
        cause: error,
      },
    );
  }
}

/** The file of a program of `test/clients`, such as a server to start: `makersProgram("emulate/dist/cli.js")`. */
export function makersProgram(path: string): string {
  return `${folder}node_modules/${path}`;
}
