/** Whether the other end is an API server, by the certificate that it shows. */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { NODES_GROUP } from '@outrigger/kube';
import { subjectOf } from './certificate-user.ts';

/**
 * One of the listener's authorities has signed its certificate, and not for a kubelet: where the authority is that of the cluster, each node
 * has a certificate of it.
 */
export function isApiServer(socket: Socket): boolean {
  const { authorized } = socket as Partial<TLSSocket>;
  const certificate = authorized === true ? (socket as TLSSocket).getPeerX509Certificate() : undefined;
  return certificate !== undefined && !subjectOf(certificate).groups.includes(NODES_GROUP);
}
