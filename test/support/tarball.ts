/** Tarballs of packages, also such as `npm pack` never writes. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

export interface TarEntry {
  readonly path: string;
  readonly text?: string | Buffer;
  /** `0` a file, `2` a symbolic link, `5` a folder. */
  readonly type?: string;
  readonly link?: string;
  /** In place of the real one. */
  readonly size?: number | Buffer;
  /** Of the path, in the header. */
  readonly prefix?: string;
}

const block = 512;

export function tarOf(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(({ path, text = "", type = "0", link = "", prefix = "", size }) => {
    const content = Buffer.from(text);
    const header = Buffer.alloc(block);
    header.write(path, 0, 100);
    header.write("0000644\0", 100);
    if (Buffer.isBuffer(size)) size.copy(header, 124, 0, 12);
    else header.write(`${(size ?? content.length).toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0        ", 136);
    header.write(type, 156);
    header.write(link, 157, 100);
    header.write("ustar\x0000", 257);
    header.write(prefix, 345, 155);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, content, Buffer.alloc((block - (content.length % block)) % block)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

/** A record of the attributes that precede a file, in an entry of type `x`. */
export function paxRecord(key: string, value: string): string {
  const bytes = Buffer.byteLength(` ${key}=${value}\n`);
  const length = [1, 2, 3, 4].map((digits) => bytes + digits).find((all, at) => String(all).length === at + 1);
  return `${length} ${key}=${value}\n`;
}

/** As npm packs it. */
export const tarballOf = (entries: readonly TarEntry[]): Buffer => gzipSync(tarOf(entries));

export const integrityOf = (tarball: Buffer): string =>
  `sha512-${createHash("sha512").update(tarball).digest("base64")}`;

export interface PluginPackage {
  readonly name: string;
  readonly version?: string;
  /** Of `definePlugin`; default: the name, and a setup that does nothing. */
  readonly id?: string;
  readonly setup?: string;
  /** Members of the declaration. */
  readonly more?: string;
  readonly manifest?: object;
  readonly others?: readonly TarEntry[];
}

/** A package of a small plugin. */
export function pluginTarball({ name, version = "1.0.0", manifest, others = [], ...plugin }: PluginPackage): Buffer {
  const { id = name.replace(/^.*\//, ""), setup = "", more = "" } = plugin;
  const main = { name, version, license: "MIT", type: "module", exports: "./index.ts", ...manifest };
  return tarballOf([
    { path: "package/package.json", text: JSON.stringify(main) },
    {
      path: "package/index.ts",
      text:
        'import { existsSync } from "node:fs";\nimport { definePlugin, Type } from "service-gateway/sdk";\n' +
        `export default definePlugin({ id: ${JSON.stringify(id)}, version: ${JSON.stringify(version)}, ` +
        `host: "^0.2.0", ${more} setup(host, options) { ${setup} } });\n`,
    },
    ...others,
  ]);
}
