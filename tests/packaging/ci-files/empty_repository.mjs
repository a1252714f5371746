// The GitHub and the GitLab recipe in an empty repository of somebody else: green with a right client, red with one that
// doubles what it creates.
// usage: node empty_repository.mjs BIN     (the folder with ws and ws-mock, of which the release's archive is made)
//
// What of the services stands in here, and nothing else:
//   GitHub: `run` steps in order, by `bash -e`, or with `shell: bash` by `bash --noprofile --norc -eo pipefail`, from a
//     script file; `env` of job and step; `uses: ./FOLDER` (a composite action with inputs, outputs and their defaults);
//     GITHUB_ENV, GITHUB_PATH, GITHUB_OUTPUT after each step; RUNNER_TEMP; `vars`, `inputs`, `steps.ID.outputs` in
//     expressions; `if: failure()` and comparisons of one output with a text; at the end the processes that the steps left
//     are stopped, found by RUNNER_TRACKING_ID. actions/checkout is the repository as it is, actions/cache a miss,
//     actions/upload-artifact asks that its file is there.
//   GitLab: `include: local`, `extends`, `!reference`, `variables`; before_script and script in one `bash -eo pipefail`;
//     the paths of `artifacts` have to be there. The image is this machine, and apt-get installs nothing.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';

const sources = new URL('../../../', import.meta.url).pathname;
const work = mkdtempSync(join(tmpdir(), 'ws-empty-repository.'));
const plain = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: work, CI: 'true', LANG: 'C.UTF-8' };

const clients = {
  right: `set -eu
curl --silent --show-error --fail --max-time 2 --retry 2 --output "$TMPDIR/answer" \\
  --header "Authorization: Bearer $WS_TOKEN" --header 'Content-Type: application/json' \\
  --header 'Idempotency-Key: notes-of-today' --data '{"title": "Notes", "content": ""}' "$WS_BASE_URL/v1/documents"
grep -q '"id":.*}' "$TMPDIR/answer" || { echo 'the answer cannot be read' >&2; exit 1; }
`,
  doubling: `for try in 1 2; do
  curl --silent --show-error --fail --max-time 2 --output "$TMPDIR/answer" \\
    --header "Authorization: Bearer $WS_TOKEN" --header 'Content-Type: application/json' \\
    --data '{"title": "Notes", "content": ""}' "$WS_BASE_URL/v1/documents" && exit 0
done
exit 1
`,
};

// The processes of the steps, found by a variable of their environment, as GitHub's runner does.
function stop_all(tracking_id) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      if (environment.includes(`RUNNER_TRACKING_ID=${tracking_id}`)) process.kill(Number(pid), 'SIGTERM');
    } catch {} // it has ended, or is another user's
  }
}

function run(words, folder, environment) {
  return new Promise((done) => {
    const child = spawn(words[0], words.slice(1), { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
    child.on('exit', (status) => done({ status, printed, ended: child.stdout.destroy() && child.stderr.destroy() }));
  });
}

// Files of NAME=VALUE lines; one with several lines would be told from them by the service's own form, which is not used.
const pairs = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => {
  assert.match(line, /^\w+=/);
  return [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)];
});

async function github(folder, archive_url) {
  const job = parse(readFileSync(join(folder, '.github/workflows/workspace-mock.yml'), 'utf8')).jobs.test;
  assert.deepEqual(Object.keys(job), ['runs-on', 'env', 'steps']);
  const temporary = mkdtempSync(join(work, 'runner.'));
  const tracking_id = `github_${temporary.slice(-6)}`;
  const environment = {
    ...plain, GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: folder, RUNNER_TEMP: temporary, RUNNER_TRACKING_ID: tracking_id, TMPDIR: temporary,
  };
  const context = { vars: { WS_ARCHIVE_URL: archive_url }, steps: {}, inputs: {} };
  const value_of = (path, within) => path.split('.').reduce((object, name) => object?.[name], within);
  const filled = (text, within) => String(text).replace(/\$\{\{\s*(.*?)\s*\}\}/g, (_, path) => {
    assert.match(path, /^(vars|inputs|steps)\.[\w.-]+$/);
    return value_of(path, within) ?? '';
  });
  const env_of = (part, within) => Object.fromEntries(Object.entries(part.env ?? {}).map(([name, text]) => [name, filled(text, within)]));
  const log = [];
  let failed = '';
  const is_wanted = (step, within) => {
    if (step.if === undefined) return !failed;
    if (step.if === 'failure()') return failed;
    const [, path, word] = step.if.match(/^([\w.-]+) != '(\w+)'$/);
    return !failed && value_of(path, within) !== word;
  };
  const steps = async (list, within, variables) => {
    for (const step of list) {
      if (!is_wanted(step, within)) continue;
      if (step.uses?.startsWith('./')) {
        const action = parse(readFileSync(join(folder, step.uses, 'action.yml'), 'utf8'));
        assert.equal(action.runs.using, 'composite');
        const inner = { ...context, steps: {}, inputs: {} };
        for (const name of Object.keys(step.with ?? {})) assert.ok(name in action.inputs, `the action has no input ${name}`);
        for (const [name, input] of Object.entries(action.inputs)) {
          assert.ok(!input.required || step.with?.[name], `the input ${name} is required`);
          inner.inputs[name] = filled(step.with?.[name] ?? input.default ?? '', within);
        }
        await steps(action.runs.steps, inner, variables);
        const outputs = Object.entries(action.outputs ?? {}).map(([name, output]) => [name, filled(output.value, inner)]);
        if (!failed) assert.ok(outputs.every(([, text]) => text), 'an output of the action is empty');
        if (step.id) within.steps[step.id] = { outputs: Object.fromEntries(outputs) };
      } else if (step.uses) {
        assert.match(step.uses, /^actions\/(checkout|cache|upload-artifact)@v4$/);
        if (step.uses.includes('upload')) assert.ok(existsSync(join(folder, step.with.path)), `${step.with.path} is missing`);
      } else {
        const files = Object.fromEntries(['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_OUTPUT'].map((name) => [name, join(temporary, name)]));
        for (const file of Object.values(files)) writeFileSync(file, '');
        const script = join(temporary, 'step.sh');
        writeFileSync(script, filled(step.run, within));
        assert.ok([undefined, 'bash'].includes(step.shell));
        const words = step.shell ? ['bash', '--noprofile', '--norc', '-eo', 'pipefail', script] : ['bash', '-e', script];
        const ended = await run(words, folder, { ...environment, ...variables, ...env_of(step, within), ...files });
        log.push(`$ ${step.run.trim()}\n${ended.printed}`);
        if (ended.status !== 0) failed = step.run;
        Object.assign(environment, Object.fromEntries(pairs(files.GITHUB_ENV)));
        for (const line of readFileSync(files.GITHUB_PATH, 'utf8').split('\n').filter(Boolean)) environment.PATH = `${line}:${environment.PATH}`;
        if (step.id) within.steps[step.id] = { outputs: Object.fromEntries(pairs(files.GITHUB_OUTPUT)) };
      }
    }
  };
  try {
    await steps(job.steps, context, env_of(job, context));
  } finally {
    stop_all(tracking_id);
  }
  return { failed, log: log.join('') };
}

async function gitlab(folder, archive_url) {
  const reference = { tag: '!reference', collection: 'seq', resolve: (list) => ({ reference: list.toJSON() }) };
  const read = (name) => parse(readFileSync(join(folder, name), 'utf8'), { customTags: [reference] });
  const { include, ...own } = read('.gitlab-ci.yml');
  const file = Object.assign({}, ...include.map((one) => read(one.local)), own);
  const job = file['test-against-mock'];
  const parent = file[job.extends];
  assert.ok(parent, `${job.extends} is not included`);
  const whole = { ...parent, ...job, variables: { ...parent.variables, ...job.variables } };
  const lines_of = (list) => list.flatMap((line) => {
    if (typeof line === 'string') return line.startsWith('apt-get ') ? [] : [line];
    return lines_of(line.reference.reduce((object, name) => object[name], file));
  });
  const temporary = mkdtempSync(join(work, 'runner.'));
  const tracking_id = `gitlab_${temporary.slice(-6)}`;
  const environment = {
    ...plain, GITLAB_CI: 'true', CI_PROJECT_DIR: folder, WS_ARCHIVE_URL: archive_url, TMPDIR: temporary, RUNNER_TRACKING_ID: tracking_id, ...whole.variables,
  };
  const script = lines_of([...whole.before_script, ...whole.script]).join('\n');
  try {
    const ended = await run(['bash', '-eo', 'pipefail', '-c', script], folder, environment);
    const files = [...whole.artifacts.paths, whole.artifacts.reports.junit];
    for (const name of files) assert.ok(existsSync(join(folder, name)), `${name} is missing: ${ended.printed}`);
    return { failed: ended.status === 0 ? '' : 'the script', log: ended.printed };
  } finally {
    stop_all(tracking_id);
  }
}

// Each service, with the files that its recipe tells its reader to copy.
const services = [
  ['GitHub', github, { 'recipes/github/workspace-mock.yml': '.github/workflows/workspace-mock.yml',
                       'packaging/github-action/action.yml': '.github/actions/ws-mock/action.yml' }],
  ['GitLab', gitlab, { 'recipes/gitlab/workspace-mock.gitlab-ci.yml': '.gitlab-ci.yml', 'packaging/gitlab-ci.yml': 'ws-mock.gitlab-ci.yml' }],
];

// The release's archive, where it is downloaded from.
function archive_of(bin) {
  mkdirSync(join(work, 'ws/bin'), { recursive: true });
  for (const program of ['ws', 'ws-mock']) copyFileSync(join(bin, program), join(work, 'ws/bin', program));
  const made = spawnSync('tar', ['-I', 'gzip -1', '-cf', join(work, 'ws-1-linux-x86_64.tar.gz'), '-C', work, 'ws']);
  assert.equal(made.status, 0, String(made.stderr));
  rmSync(join(work, 'ws'), { recursive: true });
  return `file://${work}/ws-1-linux-x86_64.tar.gz`;
}

function repository_with(files, client) {
  const folder = mkdtempSync(join(work, 'repository.'));
  assert.equal(spawnSync('git', ['init', '-q', folder]).status, 0);
  for (const [from, to] of Object.entries(files)) {
    const text = readFileSync(join(sources, Object.keys(files)[0]), 'utf8');
    // What is copied is what the recipe's own comment says.
    assert.ok(text.includes(from) || from === Object.keys(files)[0], `the recipe does not say that ${from} is copied`);
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(join(sources, from), join(folder, to));
  }
  writeFileSync(join(folder, 'client.sh'), client);
  return folder;
}

try {
  const url = archive_of(resolve(process.argv[2]));
  const runs = services.flatMap(([service, job, files]) => Object.entries(clients).map(async ([name, client]) => {
    const { failed, log } = await job(repository_with(files, client), url);
    if (name === 'right') assert.ok(!failed, `${service} is red with a right client: ${failed}\n${log}`);
    else assert.ok(failed && /doubled/.test(log), `${service} is not red with a client that doubles: ${failed}\n${log}`);
    console.log(`${service}: ${name === 'right' ? 'green' : 'red'} with the ${name} client`);
  }));
  const ended = await Promise.allSettled(runs);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 3 });
}
