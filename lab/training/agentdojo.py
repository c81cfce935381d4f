"""Exports two suites of AgentDojo as the JSON files that `collections.toml` names.

    pip install agentdojo==0.1.35
    python3 agentdojo.py FOLDER
"""

import json
import pathlib
import sys

from agentdojo.functions_runtime import FunctionCall
from agentdojo.task_suite.load_suites import get_suite

VERSION = "v1.2.2"


def calls(task, environment):
    fields = ("function", "args", "placeholder_args")
    return [{field: getattr(call, field) for field in fields} for call in task.ground_truth(environment)]


def export(name):
    suite = get_suite(VERSION, name)
    environment = suite.load_and_inject_default_environment({})
    return {
        "benchmark_version": VERSION,
        "suite": name,
        "user_tasks": [
            {"id": task.ID, "prompt": task.PROMPT, "difficulty": str(task.DIFFICULTY), "ground_truth": calls(task, environment)}
            for task in suite.user_tasks.values()
        ],
        "injection_tasks": [
            {"id": task.ID, "goal": task.GOAL, "difficulty": str(task.DIFFICULTY), "ground_truth": calls(task, environment)}
            for task in suite.injection_tasks.values()
        ],
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters.model_json_schema()}
            for tool in suite.tools
        ],
        "injection_vectors": suite.get_injection_vector_defaults(),
        "environment": json.loads(environment.model_dump_json()),
    }


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for suite in ("banking", "workspace"):
    text = json.dumps(export(suite), indent=1)
    (folder / f"{suite}.json").write_text(text, encoding="utf-8")
