import { imageCredentialsCommand, type CommandIo } from './index.ts';

/** A credential provider for nodes that have their configuration in a place of their own. */
export function acmeCredentials(provider: 'ecr' | 'generic', io: CommandIo): Promise<number> {
  return imageCredentialsCommand([provider, '--config=/usr/share/acme/image-credentials.yaml'], io);
}
