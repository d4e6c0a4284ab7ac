; Unsolvable: one key short.
(define (problem keys-06)
  (:domain keys)
  (:objects
    hall a b c - place
    k1 - key
    round - shape
  )
  (:init
    (here hall)
    (path hall a)
    (path a hall)
    (path hall b)
    (path b hall)
    (path a c)
    (path c a)
    (path b c)
    (path c b)
    (lies k1 hall)
    (fits k1 round)
    (lock a round)
    (shut a)
    (lock b round)
    (shut b)
    (lock c round)
    (shut c)
  )
  (:goal (and
    (here c)
  )))
