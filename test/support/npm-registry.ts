/** A registry of npm on this machine, for npm itself: what `npm publish` would have stored, and its tarballs. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { integrityOf } from "./tarball.ts";

interface Release {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly integrity: string;
  tarball: Buffer;
}

export interface NpmRegistry {
  readonly url: string;
  /** Paths of the requests. */
  readonly requests: readonly string[];
  publish(tarball: Buffer): void;
  /** Serves another tarball under a version; with `recorded`, its checksum is that of the new one. */
  replace(name: string, version: string, tarball: Buffer, options: { readonly recorded: boolean }): void;
  /** Answers no request for a tarball until the returned function is called. */
  holdTarballs(): () => void;
  close(): Promise<void>;
}

export async function createNpmRegistry(): Promise<NpmRegistry> {
  const packages = new Map<string, Map<string, Release>>();
  const requests: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? "/");
    requests.push(path);
    const [name = "", file] = path.slice(1).split("/-/");
    const releases = packages.get(name);
    const release = [...(releases ?? [])].find(([version]) => file === `${version}.tgz`)?.[1];
    if (release !== undefined) {
      await held;
      response.end(release.tarball);
    } else if (releases === undefined || file !== undefined) {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":"Not found"}');
    } else {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document(name, releases)));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const document = (name: string, releases: ReadonlyMap<string, Release>) => ({
    name,
    "dist-tags": { latest: [...releases.keys()].at(-1) },
    versions: Object.fromEntries(
      [...releases].map(([version, { manifest, integrity, tarball }]) => {
        const shasum = createHash("sha1").update(tarball).digest("hex");
        const dist = { integrity, shasum, tarball: `${url}/${name}/-/${version}.tgz` };
        return [version, { ...manifest, dist }];
      }),
    ),
  });
  const add = (release: Release) => {
    const { name, version } = release.manifest;
    packages.set(name, (packages.get(name) ?? new Map()).set(version, release));
  };
  return {
    ...{ url, requests },
    publish: (tarball) => add({ manifest: manifestIn(tarball), integrity: integrityOf(tarball), tarball }),
    replace(name, version, tarball, { recorded }) {
      const release = packages.get(name)?.get(version);
      if (release === undefined) throw new Error(`${name} ${version} is not published`);
      if (recorded) add({ ...release, tarball, integrity: integrityOf(tarball) });
      else release.tarball = tarball;
    },
    holdTarballs() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The first file of the tarballs here, and of those that npm packs when it comes first in the folder. */
function manifestIn(tarball: Buffer): Release["manifest"] {
  const tar = gunzipSync(tarball);
  for (let at = 0; at < tar.length; ) {
    const name = tar.toString("utf8", at, at + 100).replace(/\0.*$/s, "");
    const size = Number.parseInt(tar.toString("latin1", at + 124, at + 135), 8) || 0;
    if (name === "package/package.json") return JSON.parse(tar.toString("utf8", at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error("the tarball contains no package.json");
}
