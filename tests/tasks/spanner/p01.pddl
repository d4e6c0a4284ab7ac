(define (problem spanner-01)
  (:domain spanner)
  (:objects
    shed spot1 gate - spot
    bob - worker
    spanner1 - spanner
    nut1 - nut
  )
  (:init
    (path shed spot1)
    (path spot1 gate)
    (at bob shed)
    (at spanner1 spot1)
    (usable spanner1)
    (at nut1 gate)
    (loose nut1)
  )
  (:goal (and
    (tight nut1)
  )))
