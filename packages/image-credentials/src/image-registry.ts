/** Which registry an image is in, and whether that is one of a list. */
import { quote } from '@outrigger/cloud-provider';
import { Failure } from './failure.ts';

export interface ImageName {
  /** Host in lower case, with its port where it has one: `registry.example.com:5000`. */
  readonly registry: string;
  /** `team/app`, without tag and digest. */
  readonly repository: string;
}

const HOST =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*|\[[0-9a-f:]{2,45}\])(?::\d{1,5})?$/u;
const LONGEST = 1_000;

/**
 * As the kubelet names images: `host/repository`; without a host it is Docker Hub's, `docker.io`. Throws `bad-request` for what is no
 * image, as a host that is more than a host would make a URL that leads elsewhere.
 */
export function parseImage(image: string): ImageName {
  const refuse = (): Failure => new Failure('bad-request', `${quote(image)} is no name of an image`);
  if (image.length > LONGEST) throw refuse();
  const [first = '', ...rest] = image.split('/');
  const hasHost = rest.length > 0 && (/[.:]/u.test(first) || first === 'localhost' || first.startsWith('['));
  const registry = (hasHost ? first : 'docker.io').toLowerCase();
  const [name = ''] = (hasHost ? rest : [first, ...rest]).join('/').split('@');
  const repository = name.replace(/:[^/:]*$/u, '');
  // What a URL would read as another host, such as 0x7f.1, is none.
  const asUrl = URL.parse(`https://${registry}`)?.hostname;
  const isHost = HOST.test(registry) && asUrl === registry.replace(/:\d+$/u, '');
  if (!isHost || repository === '' || /[\s\\?#%]/u.test(name)) throw refuse();
  return { registry: registry === 'index.docker.io' ? 'docker.io' : registry, repository };
}

/** `host`, `host:port` or `host/path`, in which `*` stands for letters within one label of the host, as in the kubelet's `matchImages`. */
export interface RegistryPattern {
  readonly text: string;
  readonly host: RegExp;
  /** Empty: every repository. */
  readonly path: string;
  readonly hasWildcard: boolean;
}

/** Throws `configuration`. A pattern of which the last two labels are not plain would be a list of strangers, and is refused. */
export function parsePattern(text: string): RegistryPattern {
  const slash = text.indexOf('/');
  const host = (slash < 0 ? text : text.slice(0, slash)).toLowerCase();
  const path = slash < 0 ? '' : text.slice(slash + 1).replace(/\/+$/u, '');
  const labels = host.split('.');
  const plain = host.replaceAll('*', 'x');
  if (!HOST.test(plain) || path.includes('*') || (host.includes('*') && labels.length < 3)) {
    throw new Failure(
      'configuration',
      `${quote(text)} is no registry: a host such as *.example.com, with a path or without`,
    );
  }
  if (labels.slice(-2).some((label) => label.includes('*'))) {
    throw new Failure(
      'configuration',
      `${quote(text)} would be any registry: * may not be in the last two labels of a host`,
    );
  }
  const expression = labels.map((label) => label.split('*').map(escapeText).join('[a-z0-9-]*')).join(String.raw`\.`);
  return { text, host: new RegExp(`^${expression}$`, 'u'), path, hasWildcard: host.includes('*') };
}

/** A path counts in whole parts: `team` is not `team-b`. A port has to be the same, and none is none. */
export function matches({ host, path }: RegistryPattern, { registry, repository }: ImageName): boolean {
  return host.test(registry) && (path === '' || repository === path || repository.startsWith(`${path}/`));
}

/** Throws `registry-not-allowed`. It is asked before anything is sent, whatever the kubelet's `matchImages` says. */
export function checkAllowed(image: ImageName, registries: readonly string[], key: string): void {
  if (registries.some((text) => matches(parsePattern(text), image))) return;
  throw new Failure(
    'registry-not-allowed',
    `${image.registry} is not in ${key} of the configuration: nothing was sent`,
  );
}

function escapeText(text: string): string {
  // Letters, digits, - and : alone: `HOST` has let nothing else through. In brackets an address of IPv6.
  return text.replaceAll(/[[\]]/gu, String.raw`\$&`);
}
