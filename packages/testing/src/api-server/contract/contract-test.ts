/** How the parts of the suite name their tests and reach the server. */
import type { ApiCaller } from './api-caller.ts';

/** Declares one test; `api` is ready when it runs. */
export type ContractTest = (sentence: string, body: (api: ApiCaller) => Promise<void>) => void;

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
export const NODES = '/api/v1/nodes';
export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
export const SERVICES = '/api/v1/namespaces/default/services';
