/** Go modules, by the client that is made for them: they come from a proxy or the cache, and their checksums are looked after. */
import { runCommand } from './run-command.ts';

/** `-mod=mod`: a go.mod is generated, so it has to be completed. `local`: no other Go toolchain is fetched behind our back. */
export const GO_ENVIRONMENT = { CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOWORK: 'off' };

export interface GoModule {
  /** The folder with its files, in the cache: to be read, and left as it is. */
  readonly directory: string;
  /** Its `go.mod`. */
  readonly goMod: string;
}

/** `version`: exact, with the leading `v`. Rejects with code `ENOENT` where there is no Go. */
export async function downloadGoModule(module: string, version: string, signal?: AbortSignal): Promise<GoModule> {
  const args = ['mod', 'download', '-json', `${module}@${version}`];
  const { Dir, GoMod } = JSON.parse(await runCommand('go', args, { env: GO_ENVIRONMENT, signal })) as {
    readonly Dir: string;
    readonly GoMod: string;
  };
  return { directory: Dir, goMod: GoMod };
}
