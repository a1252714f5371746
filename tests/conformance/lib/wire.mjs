// HTTP as Node speaks it, and as bytes where Node would refuse to.
import http from 'node:http';
import net from 'node:net';

const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });

/** @typedef {{method: string, path: string, status: number, headers: object, body: Buffer, text: string, json: any}} Answer */

function answerOf(method, path, status, headers, body) {
  const text = body.toString('utf8');
  let json;
  if (/^application\/(problem\+)?json/.test(headers['content-type'] ?? '') && body.length > 0) json = JSON.parse(text);
  return { method, path, status, headers, body, text, json };
}

/**
 * One request. `body`: an object becomes JSON, text and bytes go as they are; both with the JSON content type unless
 * `headers` names another (null: none at all).
 * @returns {Promise<Answer>}
 */
export function send(port, { method = 'GET', path, token, body, headers = {} }) {
  const all = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  let bytes;
  if (body !== undefined) {
    bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    if (!('content-type' in all)) all['content-type'] = 'application/json';
    all['content-length'] = bytes.length;
  }
  for (const name of Object.keys(all)) if (all[name] === null) delete all[name];
  if (token !== undefined && !('authorization' in all)) all.authorization = `Bearer ${token}`;
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, path, headers: all, agent }, (response) => {
      const pieces = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        try {
          resolve(answerOf(method, path, response.statusCode, response.headers, Buffer.concat(pieces)));
        } catch (error) {
          reject(error);
        }
      });
    });
    request.on('error', reject);
    request.end(bytes);
  });
}

/** Bytes as they are, on a connection of their own; all that comes back until the other side ends or `done` says so. */
export function sendBytes(port, bytes, done = () => false) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    const finish = () => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(10_000, () => reject(new Error(`no answer to ${bytes.toString('latin1').slice(0, 80)}`)));
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      if (done(text)) finish();
    });
    socket.on('end', finish);
    socket.on('error', reject);
  });
}

export function closeConnections() {
  agent.destroy();
}
