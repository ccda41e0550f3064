/** What the four providers have in common. */
import type { Clock } from '@outrigger/cloud-provider';
import type { ImageCredentialsConfig } from './config.ts';
import type { HttpSender } from './http-sender.ts';
import type { ImageName } from './image-registry.ts';
import type { Credentials, CredentialRequest } from './protocol.ts';

export interface ProviderCall {
  readonly image: ImageName;
  readonly request: CredentialRequest;
  readonly config: ImageCredentialsConfig;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly http: HttpSender;
  /** The text of a file that the configuration names under `key`. Rejects with `configuration`. */
  readonly readFile: (path: string, key: string) => Promise<string>;
  /** Whatever is printed on stderr after this has not this text in it. */
  readonly conceal: (secret: string) => void;
}

/** Throws a `Failure`. The allow-list is checked before the first request. */
export type ImageCredentialsProvider = (call: ProviderCall) => Promise<Credentials>;
