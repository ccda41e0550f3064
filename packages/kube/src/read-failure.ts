/** Why a file could not be read, in words that can follow its name. */

/** `error`: what reading it threw. Paths are not repeated: whoever says this has named the file. */
export function whyUnreadable(error: unknown): string {
  switch ((error as { readonly code?: unknown } | undefined)?.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a directory, and not a file';
    case 'EACCES':
    case 'EPERM':
      return 'this process may not read it';
    default:
      return `it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}
