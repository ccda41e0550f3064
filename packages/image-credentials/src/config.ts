/** The one configuration file, read at each call: what is changed in it counts from the next image on. */
import { isCloudError } from '@outrigger/cloud-provider';
import {
  duration,
  listOf,
  named,
  optional,
  configTable,
  readConfig,
  text,
  url,
  type ConfigSchema,
  type ValueKind,
} from '@outrigger/provider-kit';
import { ACR_REGISTRIES } from './acr/acr-registries.ts';
import { ECR_REGISTRIES } from './ecr/ecr-registry.ts';
import { Failure } from './failure.ts';
import { GCR_REGISTRIES } from './gcr/gcr-registries.ts';
import { parsePattern } from './image-registry.ts';
import { LONGEST_LIFE } from './protocol.ts';

export const CONFIG_FILE = '/etc/outrigger/image-credentials.yaml';

/** In milliseconds. */
function durationWithin(name: string, least: number, most: number): ValueKind<number> {
  return {
    name,
    read: (value) => {
      const found = duration.read(value);
      return found !== undefined && found >= least && found <= most ? found : undefined;
    },
  };
}

/** The kubelet ends a plugin after a minute. */
const limit = durationWithin('a duration from 1s to 50s', 1_000, 50_000);
/** As the life of a token counts for no more; what Go cannot read as a duration would be no answer at all. */
const cacheLimit = durationWithin('a duration from 0s to 24h', 0, LONGEST_LIFE);

const ALLOWED =
  'Allow-list: image registries that credentials are given for, such as `*.example.com` or `example.com/team`';

const schema = {
  timeout: optional(limit, 'Limit of the whole call', 20_000),
  ecr: {
    registries: optional(listOf(text), ALLOWED, ECR_REGISTRIES),
    roleArn: optional(
      text,
      'Role for pods whose service account has no annotation `eks.amazonaws.com/ecr-role-arn`; by their token',
    ),
    ecrUrl: optional(url, 'In place of the API of ECR in the region of the image'),
    ecrPublicUrl: optional(url, 'In place of the API of ECR Public'),
    stsUrl: optional(url, 'In place of STS in the region of the image'),
    metadataUrl: optional(url, 'The instance metadata service', 'http://169.254.169.254'),
  },
  gcr: {
    registries: optional(listOf(text), ALLOWED, GCR_REGISTRIES),
    audience: optional(
      text,
      'Of the token exchange: `//iam.googleapis.com/projects/<number>/locations/global/workloadIdentityPools/<pool>/providers/<provider>`, or `identitynamespace:<project>.svc.id.goog:<issuer>`. Set: each pod pulls by its own service account',
    ),
    serviceAccount: optional(
      text,
      'E-mail address of the Google service account that is impersonated, where the annotation `iam.gke.io/gcp-service-account` names none',
    ),
    stsUrl: optional(url, 'Token exchange', 'https://sts.googleapis.com'),
    iamCredentialsUrl: optional(url, 'Impersonation', 'https://iamcredentials.googleapis.com'),
    metadataUrl: optional(url, 'The instance metadata service', 'http://169.254.169.254'),
  },
  acr: {
    registries: optional(listOf(text), ALLOWED, ACR_REGISTRIES),
    tenantId: optional(
      text,
      'Of Entra ID; for a client ID, where the annotation `kubernetes.azure.com/acr-tenant-id` names none',
    ),
    clientId: optional(
      text,
      'Of the application, for `clientSecretFile` and for tokens of service accounts without the annotation `kubernetes.azure.com/acr-client-id`',
    ),
    clientSecretFile: optional(
      text,
      'File with the secret of `clientId`. It goes to Entra ID alone, never to a registry',
    ),
    managedIdentity: optional(
      text,
      'Client ID, or resource ID, of a user-assigned managed identity; without it, and without a secret, the node’s only one',
    ),
    loginUrl: optional(url, 'In place of Entra ID of the cloud that the registry’s name says'),
    scope: optional(text, 'Of the token of Entra ID', 'https://containerregistry.azure.net/.default'),
    exchangeUrl: optional(url, 'In place of `https://<registry>`, whose `/oauth2/exchange` is asked'),
    metadataUrl: optional(url, 'The instance metadata service', 'http://169.254.169.254'),
  },
  generic: {
    dockerConfigFile: optional(
      text,
      'A Docker `config.json`, as in a Secret of type `kubernetes.io/dockerconfigjson`. Its registries are allowed',
    ),
    cacheFor: optional(
      cacheLimit,
      'How long the kubelet keeps what a file says, and so how late a change is seen',
      300_000,
    ),
    registries: named(
      {
        username: optional(text, 'For `passwordFile` needed'),
        passwordFile: optional(text, 'File with the password or token'),
        exchangeUrl: optional(
          url,
          'Where the token of the pod’s service account is exchanged (RFC 8693) for the password',
        ),
        audience: optional(text, 'Of the exchange'),
        scope: optional(text, 'Of the exchange'),
      },
      'Allow-list: `<name>` is a registry, with a path or without; the longest path counts. Either `passwordFile` or `exchangeUrl`',
    ),
  },
} as const satisfies ConfigSchema;

export interface ImageCredentialsConfig {
  /** Milliseconds. */
  readonly timeout: number;
  readonly ecr: {
    readonly registries: readonly string[];
    readonly roleArn: string | undefined;
    readonly ecrUrl: string | undefined;
    readonly ecrPublicUrl: string | undefined;
    readonly stsUrl: string | undefined;
    readonly metadataUrl: string;
  };
  readonly gcr: {
    readonly registries: readonly string[];
    readonly audience: string | undefined;
    readonly serviceAccount: string | undefined;
    readonly stsUrl: string;
    readonly iamCredentialsUrl: string;
    readonly metadataUrl: string;
  };
  readonly acr: {
    readonly registries: readonly string[];
    readonly tenantId: string | undefined;
    readonly clientId: string | undefined;
    readonly clientSecretFile: string | undefined;
    readonly managedIdentity: string | undefined;
    readonly loginUrl: string | undefined;
    readonly scope: string;
    readonly exchangeUrl: string | undefined;
    readonly metadataUrl: string;
  };
  readonly generic: {
    readonly dockerConfigFile: string | undefined;
    /** Milliseconds. */
    readonly cacheFor: number;
    /** By a registry, with a path or without. */
    readonly registries: ReadonlyMap<string, GenericRegistryConfig>;
  };
}

export interface GenericRegistryConfig {
  readonly username: string | undefined;
  readonly passwordFile: string | undefined;
  readonly exchangeUrl: string | undefined;
  readonly audience: string | undefined;
  readonly scope: string | undefined;
}

/** The table of keys in the package's README. */
export function configReference(): string {
  return configTable(schema);
}

/** `content`: `undefined` where there is no file; then the defaults count. Throws `configuration` with file, line and key. */
export function readImageCredentialsConfig(fileName: string, content: string | undefined): ImageCredentialsConfig {
  try {
    const config: ImageCredentialsConfig = readConfig(
      schema,
      { fileName, text: content ?? '' },
      { provider: 'image-credentials' },
    );
    const listed = [config.ecr, config.gcr, config.acr].flatMap(({ registries }) => registries);
    for (const pattern of [...listed, ...config.generic.registries.keys()]) parsePattern(pattern);
    return config;
  } catch (error) {
    if (!isCloudError(error, 'configuration')) throw error;
    throw new Failure('configuration', error.message, { cause: error });
  }
}
