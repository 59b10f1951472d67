/** Amounts of data, in words. */

const megabyte = 1_048_576;

export function renderBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`;
  return bytes < megabyte ? `${Math.ceil(bytes / 1_024)} kB` : `${(bytes / megabyte).toFixed(1)} MB`;
}

export const renderFiles = (count: number): string => `${count} ${count === 1 ? "file" : "files"}`;
