/** What goes into a backup: decided here, from the configuration, and read when the backup is written. */
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
  expandPath,
  type LoadedConfig,
  type NeededSecret,
  type PluginSchemas,
  portableConfig,
  readConfigText,
} from "../config/index.ts";
import { packageVersion, product } from "../contract/index.ts";
import { accountSecretsFolder } from "../state/index.ts";
import { isEmbedded, type StatePlace } from "../stores/index.ts";
import { environmentName, stateFolder } from "./entry-name.ts";
import { knownFormat, type Manifest } from "./manifest.ts";

/** Can be sent to another thread. */
export interface BackupPlan {
  readonly manifest: Omit<Manifest, "createdAt" | "schema">;
  /** The text of the configuration; absent without a file. */
  readonly config?: string;
  /** Left out if they do not exist. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
  readonly trees: readonly Tree[];
  /** The state directory whose `state.db` is copied; absent if the database is elsewhere. */
  readonly database?: string;
}

export interface Tree {
  /** The directory in the backup. */
  readonly name: string;
  readonly path: string;
  /** Directories of these names below the first level are left out. */
  readonly without?: readonly string[];
  /** Directories that are left out, such as that of the backups. */
  readonly excluded: readonly string[];
}

const mediaFolder = "media";
const transformsFolder = "transforms";
const tokenFile = "gateway-token";
const sharedConfigFile = "shared-config.json";

export async function planBackup({
  loaded,
  schemas,
  place,
  excluded,
  withSecrets = false,
  withMedia = true,
  owner,
}: {
  readonly loaded: LoadedConfig;
  readonly schemas: PluginSchemas | undefined;
  readonly place: StatePlace;
  /** Directories that no backup contains: those of backups. */
  readonly excluded: readonly string[];
  readonly withSecrets?: boolean;
  readonly withMedia?: boolean;
  readonly owner?: string;
}): Promise<BackupPlan> {
  const { file, directory, config } = loaded;
  const text = await readConfigText(file);
  const portable = portableConfig(text ?? "", { file, directory, schemas, withSecrets });
  const embedded = isEmbedded(place);
  const inState = (name: string) => ({ name: `${stateFolder}/${name}`, path: join(place.directory, name) });
  const secretFiles = withSecrets
    ? [...portable.files, inState(tokenFile), { name: environmentName, path: join(dirname(file), environmentName) }]
    : [];
  const channels = Object.keys(config.channels).filter((id) => existsSync(join(place.directory, id)));
  const own = config.state.backup === undefined ? [] : [expandPath(config.state.backup.dir, directory)];
  const common = { excluded: [...excluded, ...own] };
  const without = [...(withMedia ? [] : [mediaFolder]), ...(withSecrets ? [] : [accountSecretsFolder])];
  const trees: readonly Tree[] = [
    ...channels.map((id) => ({ ...inState(id), ...common, without })),
    { name: transformsFolder, path: join(directory, transformsFolder), ...common },
    ...portable.workspaces.map((workspace) => ({ ...workspace, ...common })),
  ];
  return {
    manifest: {
      format: knownFormat,
      product: product.packageName,
      version: packageVersion(),
      store: place.store,
      withSecrets,
      withMedia,
      ...(owner === undefined ? {} : { owner }),
      changed: portable.changed,
      secrets: neededSecrets(portable.secrets, directory),
      leftOut: leftOut(loaded, { embedded, withMedia }),
    },
    ...(text === undefined ? {} : { config: portable.text }),
    files: [...(embedded ? [inState(sharedConfigFile)] : []), ...secretFiles],
    trees,
    ...(embedded ? { database: place.directory } : {}),
  };
}

/** A file that the configuration names by an absolute path is looked for there, on the other machine too. */
function neededSecrets(secrets: readonly NeededSecret[], directory: string): readonly NeededSecret[] {
  return secrets.map((secret) =>
    secret.file?.startsWith("~/") === true ? { ...secret, file: expandPath(secret.file, directory) } : secret,
  );
}

function leftOut(
  { config }: LoadedConfig,
  { embedded, withMedia }: { readonly embedded: boolean; readonly withMedia: boolean },
): readonly string[] {
  const folders = config.plugins.load.filter((name) => /^[.~]/.test(name) || isAbsolute(name));
  return [
    ...(embedded ? [] : [`the database of the store ${config.state.store}`]),
    ...(withMedia ? [] : ["files of messages"]),
    ...folders.map((name) => `the plugin ${name} (plugins.load)`),
  ];
}
