/** What a test or a demonstration does to the cloud from outside. Not part of the cloud's API, and never counted as such. */
import type { CloudRequest, CloudResponse } from './cloud-request.ts';
import { Refusal } from './cloud-request.ts';
import type { FaultRule, MemoryCloudSettings, NewInstance, NewVolume } from './cloud-model.ts';
import type { MemoryCloud } from './memory-cloud.ts';

/**
 * - `POST /control/instances` (`NewInstance` or a list of them), `PUT` and `DELETE /control/instances/{id}`,
 *   `POST /control/instances/{id}/stop` and `/start`
 * - `GET` and `POST /control/volumes` (`NewVolume` or a list of them), `DELETE /control/volumes/{id}`
 * - `GET` and `PUT /control/settings` (`MemoryCloudSettings`, in part), `PUT /control/faults` (`FaultRule[]`)
 * - `GET` and `DELETE /control/calls`
 */
export function handleControl(cloud: MemoryCloud, { method, path, body }: CloudRequest): CloudResponse {
  const [, , what = '', id = '', verb = ''] = path.split('?', 1)[0]?.split('/').map(decodeURIComponent) ?? [];
  try {
    switch (`${method} ${what}${id === '' ? '' : '/{id}'}${verb === '' ? '' : `/${verb}`}`) {
      case 'GET instances':
        return ok({ instances: cloud.instances() });
      case 'POST instances': {
        const many = Array.isArray(body) ? (body as readonly NewInstance[]) : [body as NewInstance];
        for (const { name } of many)
          if (typeof name !== 'string' || name === '') throw new Refusal(400, 'invalid', 'an instance needs a name');
        const instances = many.map((instance) => cloud.createInstance(instance));
        return ok({ instances }, 201);
      }
      case 'PUT instances/{id}':
        return ok(cloud.updateInstance(id, body as Partial<NewInstance>));
      case 'DELETE instances/{id}':
        if (!cloud.deleteInstance(id)) throw new Refusal(404, 'not-found', `there is no instance ${id}`);
        return ok({});
      case 'POST instances/{id}/stop':
        return ok(cloud.updateInstance(id, { state: 'shutdown' }));
      case 'POST instances/{id}/start':
        return ok(cloud.updateInstance(id, { state: 'running' }));
      case 'GET volumes':
        return ok({ volumes: cloud.volumes() });
      case 'POST volumes': {
        const many = Array.isArray(body) ? (body as readonly NewVolume[]) : [body as NewVolume];
        for (const { id } of many)
          if (typeof id !== 'string' || id === '') throw new Refusal(400, 'invalid', 'a volume needs an id');
        return ok({ volumes: many.map((volume) => cloud.createVolume(volume)) }, 201);
      }
      case 'DELETE volumes/{id}':
        if (!cloud.deleteVolume(id)) throw new Refusal(404, 'not-found', `there is no volume ${id}`);
        return ok({});
      case 'GET settings':
        return ok(cloud.settings);
      case 'PUT settings':
        cloud.configure(body as Partial<MemoryCloudSettings>);
        return ok(cloud.settings);
      case 'PUT faults':
        if (!Array.isArray(body)) throw new Refusal(400, 'invalid', 'faults must be a list of rules');
        cloud.setFaults(body as readonly FaultRule[]);
        return ok({});
      case 'GET calls':
        return ok(cloud.calls());
      case 'DELETE calls':
        cloud.resetCalls();
        return ok({});
      default:
        throw new Refusal(404, 'invalid', `there is no ${method} ${path}`);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, body: { code: error.code, message: error.message } };
  }
}

function ok(body: unknown, status = 200): CloudResponse {
  return { status, body };
}
