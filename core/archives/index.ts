/** Archives: tar files in gzip, read as if a stranger had made them. */

export { pathProblem, sameName } from "./entry-path.ts";
export { type ArchiveEntry, faultOf, readArchive, shownName, UnsafeArchive } from "./reader.ts";
export { type ArchiveWriter, createArchive, type NewEntry } from "./writer.ts";
