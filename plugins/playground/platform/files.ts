/** Stores the files that people and bots have sent, in memory. */
import { imageSize } from "./image.ts";
import type { Upload } from "./multipart.ts";

export interface FileRecord extends Upload {
  readonly id: string;
  readonly kind: string;
  /** The path below the file route. */
  readonly path: string;
  readonly width?: number;
  readonly height?: number;
}

export interface FileStore {
  add(kind: string, upload: Upload): FileRecord;
  find(id: string): FileRecord | undefined;
  findPath(path: string): FileRecord | undefined;
}

const maxBytes = 256 * 1024 * 1024;

export function createFileStore(): FileStore {
  const files = new Map<string, FileRecord>();
  let bytes = 0;
  let next = 1;
  return {
    add(kind, upload) {
      const number = next++;
      const extension = /\.([a-z0-9]{1,8})$/i.exec(upload.fileName)?.[1] ?? "bin";
      const id = `playground-${kind}-${number}`;
      const file: FileRecord = {
        ...upload,
        id,
        kind,
        path: `${kind}s/file_${number}.${extension.toLowerCase()}`,
        ...imageSize(upload.bytes),
      };
      files.set(id, file);
      bytes += upload.bytes.length;
      for (const [oldest, { bytes: content }] of files) {
        if (bytes <= maxBytes || oldest === id) break;
        files.delete(oldest);
        bytes -= content.length;
      }
      return file;
    },
    find: (id) => files.get(id.replace(/-thumb$/, "")),
    findPath: (path) => [...files.values()].find((file) => file.path === path),
  };
}
