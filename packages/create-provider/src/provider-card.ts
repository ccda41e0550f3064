/** `provider.yaml` of a provider's repository: what the index of providers says of it. */
import { parse } from 'yaml';
import { recordOf } from './record-of.ts';

const MATURITIES = ['alpha', 'beta', 'stable', 'deprecated'] as const;
export const CARD_FILE = 'provider.yaml';
/** That no key stands twice is found by comparing each with all others. */
const MOST_CHARACTERS = 20_000;

export interface ProviderCard {
  /** Before the `://` of provider IDs. */
  readonly name: string;
  /** How people call the cloud. Default: the name. */
  readonly title: string;
  /** Where the repository is: an address, for links to what is not among the pages. */
  readonly repository?: string;
  readonly maturity: (typeof MATURITIES)[number];
  /** Teams or GitHub names; at least one. */
  readonly maintainers: readonly string[];
  /** `nodes`, `routes` … Default: none. */
  readonly features: readonly string[];
  /** Of `dns`, `cni`, `csi`, `flex`, `installer`, those that there are. Default: none. */
  readonly additional: readonly string[];
  /** The last conformance report: a file of the repository, or an address. */
  readonly conformance?: string;
  /** Addresses of what users say of it. Default: none. */
  readonly experience: readonly string[];
  /** By the ID of a requirement, where in the repository that is found instead. Default: none. */
  readonly places: Readonly<Record<string, string>>;
}

/** Throws an `Error` that names the key. */
export function readCard(text: string): ProviderCard {
  if (text.length > MOST_CHARACTERS) throw new Error(`it has more than ${MOST_CHARACTERS} characters: shorten it`);
  const card = recordOf(parse(text, { mapAsMap: true, logLevel: 'error' }));
  if (!card) throw new Error('it is not a map of keys');
  const unknown = Object.keys(card).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw new Error(`there is no key ${unknown}; the keys are ${KEYS.join(', ')}`);
  const maturity = MATURITIES.find((one) => one === card['maturity']);
  if (maturity === undefined) throw new Error(`maturity must be one of ${MATURITIES.join(', ')}`);
  const name = textOf(card, 'name');
  if (name === undefined) throw new Error('name must be the name of the provider');
  const maintainers = wordsOf(card, 'maintainers');
  if (maintainers.length === 0) throw new Error('maintainers must name at least one team or person');
  const repository = textOf(card, 'repository');
  const conformance = textOf(card, 'conformance');
  const experience = wordsOf(card, 'experience');
  // They become links of a page that others read.
  for (const [key, addresses] of [
    ['repository', repository === undefined ? [] : [repository]],
    ['experience', experience],
  ] as const) {
    const wrong = addresses.find((one) => !ADDRESS.test(one));
    if (wrong !== undefined)
      throw new Error(`${key}: ${JSON.stringify(wrong)} is no address that begins with https://`);
  }
  if (conformance !== undefined && !ADDRESS.test(conformance) && !OWN_FILE.test(conformance)) {
    throw new Error('conformance must be a file of the repository, or an address that begins with https://');
  }
  return {
    name,
    title: textOf(card, 'title') ?? name,
    ...(repository !== undefined && { repository: repository.replace(/\/+$/u, '') }),
    maturity,
    maintainers,
    features: wordsOf(card, 'features'),
    additional: wordsOf(card, 'additional'),
    ...(conformance !== undefined && { conformance }),
    experience,
    places: placesOf(card['places']),
  };
}

const ADDRESS = /^https?:\/\/\S+$/u;
/** Not above the repository, and no other scheme. */
const OWN_FILE = /^(?!.*\.\.)[\w-][\w./-]*$/u;

const KEYS = [
  'name',
  'title',
  'repository',
  'maturity',
  'maintainers',
  'features',
  'additional',
  'conformance',
  'experience',
  'places',
];

function textOf(card: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = card[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`${key} must be a text`);
}

function wordsOf(card: Readonly<Record<string, unknown>>, key: string): readonly string[] {
  const value = card[key] ?? [];
  if (Array.isArray(value) && value.every((one): one is string => typeof one === 'string')) return value;
  throw new Error(`${key} must be a list of texts`);
}

function placesOf(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  const places = recordOf(value);
  if (places && Object.values(places).every((place) => typeof place === 'string'))
    return places as Record<string, string>;
  throw new Error('places must be a map from requirements to paths');
}
