import { createClient, createTransport, loadConfig, resources } from '@outrigger/kube';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { dryRunSuite } from './dry-run.suite.ts';

const READS = ['get', 'list', 'watch'];

dryRunSuite('kube-apiserver', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  return (
    controlPlane && {
      kubeconfig: controlPlane.kubeconfig.path,
      hasApproval: true,
      request: async (csr, node) => {
        const { path } = await controlPlane.kubeconfigFor({ user: `system:node:${node}`, groups: ['system:nodes'] });
        await using kubelet = createTransport(await loadConfig({ kubeconfig: path }), { userAgent: 'test' });
        await createClient(kubelet).of(resources.certificateSigningRequests).create(csr);
      },
      writes: async () => {
        const entries = await controlPlane.auditLog.requests(
          ({ userAgent = '', verb }) => userAgent.startsWith('outrigger/') && !READS.includes(verb),
        );
        return entries.map(({ requestURI, verb }) => `${verb} ${requestURI}`);
      },
      // The test ends it.
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  );
});
