/** What a provider may have beside nodes, and what of the template is there for it alone. Pure. */

/** Capabilities of the contract beside nodes, which every provider has. */
const CONTRACT_CAPABILITIES = ['load-balancers', 'routes', 'volumes'] as const;
/** Folders that a repository has beside `cloud-controller-manager` for what else its provider can do, with what the KEP says of each. */
export const ADDITIONAL_FOLDERS = ['dns', 'cni', 'csi', 'flex', 'installer'] as const;

export type Capability = (typeof CONTRACT_CAPABILITIES)[number] | (typeof ADDITIONAL_FOLDERS)[number];

export const CAPABILITIES: readonly Capability[] = [...CONTRACT_CAPABILITIES, ...ADDITIONAL_FOLDERS];
export const DEFAULT_CAPABILITIES: readonly Capability[] = ['load-balancers', 'routes'];

/** Whether a file of the template, by its path with `/`, is part of a repository with these capabilities. */
export function isWanted(file: string, capabilities: ReadonlySet<string>): boolean {
  const [folder = ''] = file.split('/');
  // `src/routes.ts` and `src/routes.integration.test.ts`.
  const [module = ''] = (file.split('/').at(-1) ?? '').split('.');
  return [folder, module].every((name) => capabilities.has(name) || !CAPABILITIES.some((one) => one === name));
}
