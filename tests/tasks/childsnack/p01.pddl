(define (problem childsnack-01)
  (:domain childsnack)
  (:objects
    child1 - child
    tray1 - tray
    table1 - place
    bread1 - bread
    filling1 - filling
    sandwich1 - sandwich
  )
  (:init
    (has-bread bread1)
    (has-filling filling1)
    (unmade sandwich1)
    (tray-at tray1 kitchen)
    (tolerant child1)
    (sits child1 table1)
  )
  (:goal (and
    (fed child1)
  )))
