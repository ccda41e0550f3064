/**
 * What Kubernetes asks of a provider's repository, word for word, and how each is looked for. A long file, as it is one table:
 * a requirement is added here and nowhere else.
 */
import { parseAllDocuments } from 'yaml';
import { brokenLinks } from '../docs/broken-links.ts';
import { checkoutOf } from '../docs/checkout.ts';
import { ADDITIONAL_FOLDERS } from '../create/capabilities.ts';
import { CARD_FILE } from '../provider-card.ts';
import { recordOf } from '../record-of.ts';
import type { Repository } from './repository.ts';

interface Look {
  /** `undefined`: nothing in this repository is concerned. */
  readonly isMet: boolean | undefined;
  /** What is there, in one line. */
  readonly found: string;
}

export interface Requirement {
  /** Stable: reports are compared by it, and `places` of `provider.yaml` names it. */
  readonly id: string;
  readonly level: 'must' | 'should';
  readonly quote: string;
  readonly source: string;
  /** What to do where it is not met. */
  readonly todo: string;
  /** Where it is looked for, relative to the repository, and `places` of `provider.yaml` may name another. Empty: at several. Default: it can be nowhere else. */
  readonly place?: string;
  /** `place`: that, or the other one. */
  readonly look: (repository: Repository, place: string) => Look;
}

const KEP =
  'KEP-2392, Repository Requirements: https://github.com/kubernetes/enhancements/tree/master/keps/sig-cloud-provider/2392-cloud-controller-manager#repository-requirements';
const KEP_DEPLOYMENT =
  'KEP-2392, Deployment Changes: https://github.com/kubernetes/enhancements/tree/master/keps/sig-cloud-provider/2392-cloud-controller-manager#deployment-changes';
const KEP_GOALS =
  'KEP-2392, Process Goals: https://github.com/kubernetes/enhancements/tree/master/keps/sig-cloud-provider/2392-cloud-controller-manager#process-goals';
const FEATURE =
  'Support out-of-process and out-of-tree cloud providers, Goals for GA: https://github.com/kubernetes/enhancements/issues/88';
const SIG = 'SIG Cloud Provider, New Cloud Providers in Kubernetes, KubeCon 2018';

/** Fewer than these say nothing: a heading alone, a page that is still to be written. */
const LEAST_WORDS = 30;
const CODE = /\.(?:ts|js|mjs|go|py|rs|java|kt|c|cc|cpp)$/u;
/** What tells of a thing, and is not it. */
const PROSE = /(?:^|\/)(?:[^/]+\.(?:md|txt|rst|adoc)|OWNERS|OWNERS_ALIASES|LICENSE|\.gitignore|\.gitkeep)$/u;
/** Providers that were part of Kubernetes, by the names that they have. */
const ONCE_IN_TREE = /^(?:aws|azure|gce|gcp|openstack|vsphere|vmware)$/u;
const CI = ['.github/workflows', '.gitlab-ci.yml', '.circleci', '.prow.yaml', '.ci', 'Jenkinsfile'];

const ADDITIONAL_QUOTES: Readonly<Record<(typeof ADDITIONAL_FOLDERS)[number], string>> = {
  dns: 'dns for DNS provider code.',
  cni: 'cni for the Container Network Interface (CNI) driver.',
  csi: 'csi for the Container Storage Interface (CSI) driver.',
  flex: 'flex for the Flex Volume driver.',
  installer: 'installer for custom installer code.',
};

export const REQUIREMENTS: readonly Requirement[] = [
  {
    id: 'repository-name',
    level: 'must',
    quote:
      'Each cloud provider hosted within the kubernetes organization shall have a single repository named kubernetes/cloud-provider-<provider_name>.',
    source: KEP,
    todo: `rename the repository, and say its address in ${CARD_FILE}: repository`,
    look: ({ card }) => {
      if (card instanceof Error || card.repository === undefined)
        return { isMet: undefined, found: 'no address is said' };
      const { name, repository } = card;
      const [, repo = ''] = /^https:\/\/github\.com\/kubernetes\/([^/]+)$/u.exec(repository) ?? [];
      if (repo === '') return { isMet: undefined, found: `${repository} is not in the kubernetes organization` };
      return { isMet: repo === `cloud-provider-${name}`, found: repository };
    },
  },
  {
    id: 'cloud-controller-manager',
    level: 'must',
    quote:
      'A cloud-controller-manager subdirectory that contains the implementation of the provider-specific cloud controller.',
    source: KEP,
    todo: 'put the source of the provider there',
    place: 'cloud-controller-manager',
    look: (repository, place) => {
      const files = repository.filesBelow(place).filter((file) => CODE.test(file));
      return { isMet: repository.isFolder(place) && files.length > 0, found: `${files.length} source files` };
    },
  },
  {
    id: 'docs',
    level: 'must',
    quote: 'A docs subdirectory.',
    source: KEP,
    todo: 'make the folder docs with the pages below',
    look: (repository) => {
      const pages = repository.filesBelow('docs').filter((file) => file.endsWith('.md'));
      return { isMet: repository.isFolder('docs') && pages.length > 0, found: `${pages.length} pages` };
    },
  },
  {
    id: 'docs-cloud-controller-manager',
    level: 'must',
    quote:
      'A docs/cloud-controller-manager.md file that describes the options and usage of the cloud controller manager code.',
    source: KEP,
    todo: 'describe its flags, its configuration and how it is run',
    place: 'docs/cloud-controller-manager.md',
    look: page,
  },
  {
    id: 'docs-testing',
    level: 'must',
    quote: 'A docs/testing.md file that describes how the provider code is tested.',
    source: KEP,
    todo: 'describe what is tested against what, and how a person runs it',
    place: 'docs/testing.md',
    look: page,
  },
  {
    id: 'makefile-test',
    level: 'must',
    quote: 'A Makefile with a test entrypoint to run the provider tests.',
    source: KEP,
    todo: 'add a target test with the command that runs the tests',
    place: 'Makefile',
    look: (repository, place) => {
      const text = repository.read(place);
      if (text === undefined) return { isMet: false, found: `there is no ${place}` };
      const runs = runsAnything(text, 'test');
      return { isMet: runs, found: runs ? 'a target test with commands' : 'no target test that runs anything' };
    },
  },
  {
    id: 'docs-getting-started',
    level: 'should',
    quote:
      'Additionally, the repository should have: A docs/getting-started.md file that describes the installation and basic operation of the cloud controller manager code. / "Getting Started" documentation - outlines the necessary steps required to stand up a Kubernetes cluster.',
    source: `${KEP}; ${FEATURE}`,
    todo: 'describe the steps from machines to a cluster with initialized nodes',
    place: 'docs/getting-started.md',
    look: page,
  },
  {
    id: 'docs-features',
    level: 'should',
    quote:
      'Documentation outlining all cloud provider features such as LoadBalancers, Volumes, etc. There should be docs providing a high-level overview …',
    source: FEATURE,
    todo: 'give an overview of what a cluster gets of this cloud',
    place: 'docs/features.md',
    look: page,
  },
  {
    id: 'docs-how-it-works',
    level: 'should',
    quote: '… and docs that dig into sufficient details on how each feature works under the hood.',
    source: FEATURE,
    todo: 'say of each feature what is asked of the cloud, when, and who owns each resource',
    place: 'docs/how-it-works.md',
    look: page,
  },
  {
    id: 'docs-migration',
    level: 'should',
    quote:
      'A well-documented plan exists for how to migrate a cluster from using in-tree cloud provider to out-of-tree cloud provider, this only applies to AWS, Azure, GCP, OpenStack, and VMWare.',
    source: FEATURE,
    todo: 'describe how a live cluster comes over, and back',
    place: 'docs/migration.md',
    look: (repository, place) => {
      const { card } = repository;
      if (card instanceof Error || !ONCE_IN_TREE.test(card.name)) {
        return { isMet: undefined, found: 'it was never part of Kubernetes' };
      }
      return page(repository, place);
    },
  },
  {
    id: 'docs-collectable',
    level: 'should',
    quote:
      'Docs should also be centralized in an automated fashion where documentation from all cloud providers are placed into a central location.',
    source: FEATURE,
    todo: 'correct the links, so that `outrigger docs collect` can take the pages along',
    look: (repository) => {
      const pages = repository.filesBelow('docs').filter((file) => file.endsWith('.md'));
      const { directory } = repository;
      const [first, ...more] = brokenLinks(directory, pages, checkoutOf(directory));
      if (first === undefined)
        return { isMet: pages.length > 0, found: `${pages.length} pages, every link leads somewhere` };
      return { isMet: false, found: `${first}${more.length > 0 ? ` and ${more.length} more` : ''} leads nowhere` };
    },
  },
  ...ADDITIONAL_FOLDERS.map((folder): Requirement => ({
    id: folder,
    level: 'should',
    quote: `Where the provider has additional capabilities, the repository should have the following subdirectories that contain the common features: ${ADDITIONAL_QUOTES[folder]}`,
    source: KEP,
    todo: `put what ${folder} is made of into the folder, with a README.md that says what it is and how it is used`,
    place: folder,
    look: (repository, place) => {
      const { card } = repository;
      const isSaid = !(card instanceof Error) && card.additional.includes(folder);
      if (!isSaid && !repository.isFolder(place)) return { isMet: undefined, found: `${CARD_FILE} names no ${folder}` };
      const written = page(repository, `${place}/README.md`);
      if (!isSaid || !written.isMet) return written;
      const files = repository.filesBelow(place).filter((file) => !PROSE.test(file));
      if (files.length > 0) return { isMet: true, found: `${files.length} files` };
      return { isMet: false, found: `${CARD_FILE} names ${folder}, and ${place} has words alone` };
    },
  })),
  {
    id: 'manifests',
    level: 'should',
    quote:
      'A deployment descriptor file will be provided with this change. You need to apply this change using: kubectl apply -f cloud-controller-manager.yml',
    source: KEP_DEPLOYMENT,
    todo: 'add a manifest with the Deployment or DaemonSet of the cloud-controller-manager',
    place: 'manifests',
    look: (repository, place) => {
      const file = repository
        .filesBelow(place)
        .find((one) => /\.ya?ml$/u.test(one) && hasWorkload(repository.read(one) ?? ''));
      return { isMet: file !== undefined, found: file ?? `no manifest with a Deployment or DaemonSet in ${place}` };
    },
  },
  {
    id: 'ci',
    level: 'should',
    quote: 'they should ensure that test runs upload the logs for these new processes to test grid',
    source: KEP_DEPLOYMENT,
    todo: 'have CI run make test, and keep its logs where testgrid finds them',
    place: '',
    look: (repository, place) => {
      const places = place === '' ? CI : [place];
      const files = places.flatMap((place) => repository.filesBelow(place));
      const file = files.find((one) => /\bmake\b.*\btest\b/u.test(repository.read(one) ?? ''));
      return { isMet: file !== undefined, found: file ?? `nothing that runs make test in ${places.join(', ')}` };
    },
  },
  {
    id: 'owners',
    level: 'should',
    quote: 'unambiguous ownership of assets by the CNCF',
    source: KEP_GOALS,
    todo: 'name approvers in OWNERS, teams or GitHub names, and the people of each alias in OWNERS_ALIASES',
    place: 'OWNERS',
    look: (repository, place) => {
      const text = repository.read(place);
      if (text === undefined) return { isMet: false, found: `there is no ${place}` };
      const nobody = emptyAliasesIn(repository.read('OWNERS_ALIASES') ?? '');
      const named = approversIn(text);
      const approvers = named.filter((one) => !nobody.includes(one));
      if (approvers.length > 0) return { isMet: true, found: approvers.join(', ') };
      const found = named.length > 0 ? `OWNERS_ALIASES has no member for ${named.join(', ')}` : 'it has no approvers';
      return { isMet: false, found };
    },
  },
  {
    id: 'provider-card',
    level: 'should',
    quote:
      'create an index of all cloud providers which WG Cloud Provider believes should be highlighted based on defined criteria for quality, usage, and other requirements',
    source: KEP_GOALS,
    todo: `add ${CARD_FILE} with name, maturity and maintainers`,
    look: ({ card }) => {
      if (card instanceof Error) return { isMet: false, found: card.message };
      const unknown = Object.keys(card.places).find((place) => !placeable().includes(place));
      if (unknown !== undefined) {
        const known = placeable().join(', ');
        return { isMet: false, found: `${CARD_FILE}: places has no ${unknown}; it may have ${known}` };
      }
      return { isMet: true, found: `${card.title}, ${card.maturity}, by ${card.maintainers.join(', ')}` };
    },
  },
  {
    id: 'conformance-report',
    level: 'should',
    quote: 'Conformance certified. Reporting conformance test results to testgrid.',
    source: SIG,
    todo: `run outrigger conformance provider, keep its report, and name it in ${CARD_FILE}: conformance`,
    look: (repository) => {
      const { card } = repository;
      if (card instanceof Error || card.conformance === undefined) return { isMet: false, found: 'no report is named' };
      const isThere = /^https?:/u.test(card.conformance) || repository.exists(card.conformance);
      return { isMet: isThere, found: isThere ? card.conformance : `there is no ${card.conformance}` };
    },
  },
  {
    id: 'experience-reports',
    level: 'should',
    quote: 'User experience reports.',
    source: SIG,
    todo: `name what users have written of it in ${CARD_FILE}: experience`,
    look: ({ card }) => {
      const reports = card instanceof Error ? [] : card.experience;
      return { isMet: reports.length > 0, found: reports.length > 0 ? reports.join(', ') : 'none is named' };
    },
  },
];

/** The requirements that may be met at another place. */
function placeable(): readonly string[] {
  return REQUIREMENTS.flatMap(({ id, place }) => (place === undefined ? [] : [id]));
}

/** Whether `make TARGET` runs anything: a recipe of the target's own, or of one that it names. */
function runsAnything(makefile: string, target: string): boolean {
  const withRecipe = new Set<string>();
  const needed = new Set([target]);
  let targets: readonly string[] = [];
  for (const line of makefile.replaceAll(/\\\r?\n/gu, ' ').split(/\r?\n/u)) {
    const rule = /^(?<targets>[^\s#:=][^#:=]*)::?(?![:=])(?<prerequisites>[^#;]*)(?<recipe>;.*)?/u.exec(line)?.groups;
    if (rule) {
      targets = words(rule['targets']);
      if (targets.includes(target)) for (const one of words(rule['prerequisites'])) needed.add(one);
    }
    // Comments and empty lines may stand before a recipe.
    else if (/^[^\s#]/u.test(line)) targets = [];
    if (/\S/u.test(rule?.['recipe']?.slice(1) ?? '') || /^\t.*\S/u.test(line))
      for (const one of targets) withRecipe.add(one);
  }
  return [...needed].some((one) => withRecipe.has(one));
}

function words(text = ''): readonly string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

function page(repository: Repository, place: string): Look {
  const text = repository.read(place);
  if (text === undefined) return { isMet: false, found: `there is no ${place}` };
  const words = text.match(/\p{L}[\p{L}\p{N}'-]*/gu)?.length ?? 0;
  const isPage = /^#{1,2} \S/mu.test(text) && words >= LEAST_WORDS;
  return {
    isMet: isPage,
    found: isPage ? `${words} words` : `${place} has ${words} words: a heading and ${LEAST_WORDS} are the least`,
  };
}

function hasWorkload(text: string): boolean {
  return documentsIn(text).some(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');
}

/** Aliases that stand for no one. */
function emptyAliasesIn(text: string): readonly string[] {
  const [owners] = documentsIn(text);
  return Object.entries(recordOf(owners?.['aliases']) ?? {}).flatMap(([name, people]) =>
    Array.isArray(people) && people.length > 0 ? [] : [name],
  );
}

function approversIn(text: string): readonly string[] {
  const [owners] = documentsIn(text);
  const approvers = owners?.['approvers'];
  return Array.isArray(approvers)
    ? approvers.filter((one): one is string => typeof one === 'string' && one !== '')
    : [];
}

/** What is no YAML, as templates of Helm before they are rendered, has none. */
function documentsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  // To compare each key with all others takes time by the square of them.
  return parseAllDocuments(text, { uniqueKeys: false, logLevel: 'error' }).flatMap((document) => {
    const value: unknown = document.errors.length === 0 ? document.toJS({ mapAsMap: true }) : undefined;
    const found = recordOf(value);
    return found ? [found] : [];
  });
}
