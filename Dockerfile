# The API, the jobs and the command line; Neo4j runs in a container of its own (docker-compose.yml).
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 graphmem && mkdir /data /cache && chown graphmem /data /cache
WORKDIR /app

COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY graphmem graphmem
COPY cypher cypher
COPY api api
COPY jobs jobs
RUN pip install --no-cache-dir --no-deps .

USER graphmem
EXPOSE 8474
CMD ["graphmem", "serve"]
