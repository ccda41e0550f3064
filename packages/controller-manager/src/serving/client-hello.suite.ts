/** The first message of a TLS handshake, for tests that never send the second. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { connect } from 'node:tls';

/** What a client says first, from one that talks to a listener which says nothing. */
export async function clientHello(): Promise<Buffer> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = connect({ host: '127.0.0.1', port: (listener.address() as AddressInfo).port });
  client.on('error', () => {});
  const [socket] = (await once(listener, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  listener.close();
  return hello;
}
